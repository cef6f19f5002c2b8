// What holds for the documentation as a whole: it shows the gallery as it is, and its links lead somewhere.
#include <gtest/gtest.h>

#include <algorithm>

#include "doc/pages.hpp"

namespace appell::doc {

namespace {

TEST(Documentation, FirstModelIsTheGallerys) {
    std::string shown;
    for (const Block& block : blocks_of(k_root / "README.md"))
        if (block.language == "appell" && shown.empty()) shown = block.text;
    const fs::path file = k_root / "gallery/simple_pendulum.appell";
    ASSERT_TRUE(fs::exists(file));
    EXPECT_EQ(substance(shown), substance(content(file)));
}

TEST(Documentation, GalleryIsListed) {
    const std::string page = content(k_root / "docs/gallery.md");
    for (const auto& entry : fs::directory_iterator(k_root / "gallery"))
        if (entry.path().extension() == ".appell") {
            // a row with the title of the model: the program's list has its topics from there
            const std::string name = entry.path().stem(), text = content(entry.path());
            const std::size_t open = text.find('"', text.find("system " + name)), close = text.find('"', open + 1);
            const std::string row =
                "| [`" + name + "`](../gallery/" + name + ".appell) | " + text.substr(open + 1, close - open - 1) + " |\n";
            EXPECT_NE(page.find(row), std::string::npos) << row;
        }
}

TEST(Documentation, LinksLeadSomewhere) {
    std::size_t anchors = 0;
    for (const fs::path& page : pages())
        for (const std::string& link : links_of(page)) {
            if (link.find("://") != std::string::npos) continue;
            const std::size_t hash = link.find('#');
            const std::string file = link.substr(0, hash);
            const fs::path target = file.empty() ? page : (page.parent_path() / file).lexically_normal();
            EXPECT_TRUE(fs::exists(target)) << page.lexically_relative(k_root) << " links to " << link;
            if (hash == std::string::npos || target.extension() != ".md") continue;
            ++anchors;
            const std::vector<std::string> there = anchors_of(target);
            EXPECT_NE(std::find(there.begin(), there.end(), link.substr(hash + 1)), there.end())
                << page.lexically_relative(k_root) << " links to " << link << ", and no heading there is called so";
        }
    EXPECT_GE(anchors, 1u);
}

// every page is reached from the start page, and the start page from the README
TEST(Documentation, EveryPageIsReached) {
    std::vector<fs::path> reached{k_root / "README.md"};
    for (std::size_t i = 0; i < reached.size(); ++i)
        for (const std::string& link : links_of(reached[i])) {
            if (link.find("://") != std::string::npos) continue;
            const fs::path target = (reached[i].parent_path() / link.substr(0, link.find('#'))).lexically_normal();
            const auto reach = [&](const fs::path& page) {
                if (page.extension() == ".md" && std::find(reached.begin(), reached.end(), page) == reached.end())
                    reached.push_back(page);
            };
            // a folder leads to what is in it
            if (fs::is_directory(target))
                for (const auto& entry : fs::directory_iterator(target)) reach(entry.path());
            else if (fs::exists(target))
                reach(target);
        }
    for (const fs::path& page : pages())
        EXPECT_TRUE(std::find(reached.begin(), reached.end(), page) != reached.end())
            << page.lexically_relative(k_root) << " is linked from nowhere";
}

}  // namespace

}  // namespace appell::doc
