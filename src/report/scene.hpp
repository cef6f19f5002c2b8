// What can be drawn of a model, as data: points, bodies, links and the arrows of constraint forces, each with the columns of a
// trajectory row that say where it is. Columns are counted like those of a RowLayout; vectors are along the Newtonian axes.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace appell {

// The uniform solid that has a body's mass and central inertia: it is the body itself where that is uniform and of such a shape.
struct SolidShape {
    enum class Kind { none, ball, cylinder, box };

    Kind kind = Kind::none;
    std::array<double, 3> size{};  // of a ball: radius; of a cylinder: radius, length; of a box: edges
    std::array<double, 9> axes{};  // columns: its axes in the body's basis; a cylinder's own axis is the third
};

// `inertia`: central, row by row, in the body's basis
[[nodiscard]] SolidShape solid_shape(double mass, const std::array<double, 9>& inertia);

struct Scene {
    struct Point {
        std::string name;
        std::size_t at = 0;  // three columns
        double mass = 0;     // of the particle there; 0: none
        bool fixed = false;  // in the Newtonian frame
    };
    struct Body {
        std::string name;
        std::size_t center = 0;  // index in `points`
        std::size_t turn = 0;    // nine columns: the rotation that takes components in the body to Newtonian ones, row by row
        double mass = 0;
        SolidShape shape;
    };
    struct Link {
        enum class Kind { rod, spring, damper };
        Kind kind = Kind::rod;
        std::size_t from = 0, to = 0;  // indices in `points`
    };
    struct Arrow {
        std::string owner, place;  // "ring", "P"
        bool torque = false;
        std::size_t at = 0;     // index in `points`; of a torque, the body's centre
        std::size_t value = 0;  // three columns
    };

    std::string frame;  // the Newtonian one
    std::vector<Point> points;
    std::vector<Body> bodies;
    std::vector<Link> links;
    std::vector<Arrow> arrows;
    std::array<double, 3> gravity{};     // at the start
    std::size_t first = 0, columns = 0;  // all columns of the scene
    std::size_t left_out = 0;            // columns that a scene of this model would have, where that is too many

    [[nodiscard]] bool empty() const { return points.empty(); }
};

}  // namespace appell
