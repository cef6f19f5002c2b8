// The gallery's models, carried by the program (made by cmake/embed_gallery.cmake).
#pragma once

#include <string>
#include <vector>

namespace appell {

struct GalleryModel {
    std::string name;
    std::string topic;  // the heading it stands under in docs/gallery.md; all of one topic follow each other
    std::string text;
};

[[nodiscard]] const std::vector<GalleryModel>& gallery();

}  // namespace appell
