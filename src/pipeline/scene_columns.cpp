#include "pipeline/scene_columns.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "dynam/acting_forces.hpp"
#include "dynam/central_inertia.hpp"
#include "dynam/modes.hpp"
#include "expr/dependence.hpp"
#include "expr/evaluate.hpp"

namespace appell {

namespace {

// a scene beyond this would fill a report by itself, and nobody would find anything in it
constexpr std::size_t k_most_columns = 3000;

class SceneColumns {
public:
    SceneColumns(const ConstrainedDynamics& d, const ConstrainedDynamics& whole, Quantities& observable,
                 std::span<const double> start, const std::function<std::size_t(NodeId)>& column)
        : d_(d),
          whole_(whole),
          m_(*d.model),
          g_(d.graph()),
          kin_(*d.kinematics),
          observable_(observable),
          start_(start),
          column_(column) {}

    Scene make() {
        const std::size_t wanted = 3 * m_.points.size() + 9 * m_.bodies.size();
        if (wanted > k_most_columns) {
            scene_.left_out = wanted;
            return std::move(scene_);
        }
        scene_.frame = m_.frame(Model::newtonian()).name;
        add_points();
        add_bodies();
        add_links();
        add_gravity();
        add_arrows();
        return std::move(scene_);
    }

private:
    std::size_t vector_columns(const std::array<NodeId, 3>& c) {
        const std::size_t first = put(c[0]);
        put(c[1]);
        put(c[2]);
        return first;
    }
    std::size_t put(NodeId value) {
        const std::size_t at = column_(value);
        if (scene_.columns++ == 0) scene_.first = at;
        return at;
    }
    double number(NodeId value) { return evaluate<double>(g_, std::span(&value, 1), start_).front(); }
    bool moves(NodeId n) const { return depends_on(g_, n, SymbolKind::coordinate) || depends_on(g_, n, SymbolKind::time); }

    void add_points() {
        for (std::size_t i = 0; i < m_.points.size(); ++i) {
            const Vec3 p = kin_.frames().express(kin_.position(PointId(i)), Model::newtonian());
            const bool fixed = std::none_of(p.c.begin(), p.c.end(), [&](NodeId c) { return moves(c); });
            scene_.points.push_back({m_.points[i].name, vector_columns(p.c), 0, fixed});
        }
        for (const Particle& particle : m_.particles)
            scene_.points[particle.point.index()].mass += number(kin_.resolve(particle.mass));
    }

    void add_bodies() {
        Diagnostics known;  // a body whose inertia moves was refused when the dynamics was derived
        for (const Body& body : m_.bodies) {
            Scene::Body out;
            out.name = body.name;
            out.center = body.center.index();
            const Matrix3& R = kin_.frames().rotation(Model::newtonian(), body.frame);
            out.turn = put(R[0]);
            for (std::size_t i = 1; i < 9; ++i) put(R[i]);
            out.mass = number(kin_.resolve(body.mass));
            const Matrix3 inertia = central_inertia(kin_, body, known);
            const std::vector<double> numbers = evaluate<double>(g_, inertia, start_);
            std::array<double, 9> I{};
            std::copy(numbers.begin(), numbers.end(), I.begin());
            out.shape = body.shape ? given_shape(*body.shape) : solid_shape(out.mass, I);
            scene_.bodies.push_back(std::move(out));
        }
    }

    SolidShape given_shape(const BodyShape& shape) {
        SolidShape out;
        out.kind = shape.kind == BodyShape::Kind::ball  ? SolidShape::Kind::ball
                   : shape.kind == BodyShape::Kind::box ? SolidShape::Kind::box
                                                        : SolidShape::Kind::cylinder;
        for (std::size_t i = 0; i < 3; ++i) out.size[i] = number(kin_.resolve(shape.size[i]));
        // a cylinder's own axis is the third
        for (std::size_t k = 0; k < 3; ++k) out.axes[3 * ((static_cast<std::size_t>(shape.axis) + 1 + k) % 3) + k] = 1;
        return out;
    }

    // a point at a constant place of a frame is joined to the point it is measured from
    void add_links() {
        for (std::size_t i = 1; i < m_.points.size(); ++i) {
            const PointId given = kin_.base(PointId(i));
            const PointId base = given.valid() ? given : Model::origin();
            if (scene_.points[i].fixed && scene_.points[base.index()].fixed) continue;
            const MixedVector offset = add(g_, kin_.position(PointId(i)), scale(g_, g_.constant(-1), kin_.position(base)));
            std::size_t parts = 0;
            bool rigid = true;
            for (const Vec3& part : offset.parts) {
                if (is_zero(g_, part)) continue;
                ++parts;
                rigid = rigid && std::none_of(part.c.begin(), part.c.end(), [&](NodeId c) { return moves(c); });
            }
            // several frames that turn against each other make no rod
            if (rigid && parts == 1) scene_.links.push_back({Scene::Link::Kind::rod, base.index(), i});
        }
        for (const Load& load : m_.loads) {
            if (const auto* spring = std::get_if<SpringLoad>(&load.what))
                scene_.links.push_back({Scene::Link::Kind::spring, spring->first.index(), spring->second.index()});
            if (const auto* damper = std::get_if<DamperLoad>(&load.what))
                scene_.links.push_back({Scene::Link::Kind::damper, damper->first.index(), damper->second.index()});
        }
    }

    void add_gravity() {
        for (const Load& load : m_.loads)
            if (const auto* gravity = std::get_if<GravityLoad>(&load.what)) {
                const Vec3 g = kin_.frames().express(kin_.resolve_vector(gravity->acceleration), Model::newtonian());
                for (std::size_t i = 0; i < 3; ++i) scene_.gravity[i] += number(g.c[i]);
            }
        if (!std::all_of(scene_.gravity.begin(), scene_.gravity.end(), [](double v) { return std::isfinite(v); }))
            scene_.gravity = {};
    }

    [[nodiscard]] std::optional<std::size_t> centre_of(FrameId frame) const {
        for (const Body& body : m_.bodies)
            if (body.frame == frame) return body.center.index();
        return std::nullopt;
    }

    void add_arrow(std::string owner, const ActingForce& f, NodeId value) {
        if (f.kind == ActingForce::Kind::generalized || scene_.columns + 3 > k_most_columns) return;
        const bool torque = f.kind == ActingForce::Kind::torque;
        const std::optional<std::size_t> at = torque ? centre_of(f.body) : std::optional(f.point.index());
        if (!at) return;
        scene_.arrows.push_back(
            {std::move(owner), place_name(m_, f), torque, *at, vector_columns(observable_.vector(value, {}))});
    }

    // Reactions of all constraints, laws as stated and actuators; sticking shows as friction. What is off in this mode exerts
    // nothing: its multiplier is zero.
    void add_arrows() {
        for (const ActingForce& f : acting_forces(whole_)) {
            if (f.member == ForceMember::actuator)
                add_arrow(m_.actuators[f.owner].name, f, f.value);
            else if (f.member == ForceMember::reaction && !m_.constraints[f.owner].stick_of)
                add_arrow(m_.constraints[f.owner].name, f, is_off(f.owner) ? g_.vector_zero() : f.value);
        }
        for (const NonidealForce& law : m_.nonideal) {
            const std::string owner = "law of " + m_.constraints[law.constraint].name;
            const auto value = [&](NodeId stated) { return is_off(law.constraint) ? g_.vector_zero() : stated; };
            if (const auto* force = std::get_if<ForceLoad>(&law.what)) {
                add_arrow(owner, at_place(*force), value(force->force));
            } else if (const auto* torque = std::get_if<TorqueLoad>(&law.what)) {
                ActingForce f;
                f.kind = ActingForce::Kind::torque;
                f.body = torque->body;
                add_arrow(owner, f, value(torque->torque));
                f.body = torque->reaction;
                if (f.body.valid()) add_arrow(owner, f, value(g_.vneg(torque->torque)));
            }
        }
        for (std::size_t i = 0; i < m_.frictions.size(); ++i) {
            const Friction& friction = m_.frictions[i];
            const std::string owner = "friction of " + m_.constraints[friction.constraint].name;
            const NodeId force = friction_force(i);
            add_arrow(owner, at_place(friction.on), force);
            if (friction.from) add_arrow(owner, at_place(*friction.from), g_.vneg(force));
        }
    }

    [[nodiscard]] static ActingForce at_place(const ForceLoad& load) {
        ActingForce f;
        f.point = load.point;
        f.body = load.body;
        return f;
    }

    [[nodiscard]] bool is_off(std::size_t constraint) const { return !d_.off.empty() && d_.off[constraint]; }

    // the law while it slides, the constraint force of `slip = 0` while it sticks
    NodeId friction_force(std::size_t i) {
        const Friction& friction = m_.frictions[i];
        NodeId sum = slides(d_, i) ? sliding_force(d_, i) : g_.vector_zero();
        const std::vector<ConstraintForces> rows = row_forces(d_);
        for (std::size_t row = 0; row < d_.rows.size(); ++row) {
            if (d_.rows[row].constraint != friction.stick) continue;
            for (const ForceDirection& f : rows[row].forces)
                if (f.point == friction.on.point && f.body == friction.on.body)
                    sum = g_.vadd(sum, g_.vscale(g_.symbol_node(d_.rows[row].multiplier), f.W));
        }
        return sum;
    }

    const ConstrainedDynamics& d_;
    const ConstrainedDynamics& whole_;
    const Model& m_;
    Graph& g_;
    Kinematics& kin_;
    Quantities& observable_;
    std::span<const double> start_;
    const std::function<std::size_t(NodeId)>& column_;
    Scene scene_;
};

}  // namespace

Scene scene_columns(const ConstrainedDynamics& dynamics, const ConstrainedDynamics& whole, Quantities& observable,
                    std::span<const double> start, const std::function<std::size_t(NodeId)>& column) {
    return SceneColumns(dynamics, whole, observable, start, column).make();
}

}  // namespace appell
