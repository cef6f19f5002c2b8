// The grammar for editors names exactly the words of the language: its lists are compared with the tables the parser uses.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "lang/schema.hpp"
#include "language/read.hpp"

namespace {

using namespace appell;
using language_test::file_text;
using Words = std::set<std::string>;

nlohmann::json grammar() {
    return nlohmann::json::parse(file_text(APPELL_SOURCE_DIR "/editors/vscode/syntaxes/appell.tmLanguage.json"));
}

// the words of the first list (?:a|b|c) behind a place in the pattern of a rule
Words words_of(const std::string& rule, std::size_t from = 0) {
    const std::string pattern = grammar()["repository"][rule]["match"];
    std::smatch list;
    const std::string rest = pattern.substr(from);
    Words out;
    if (!std::regex_search(rest, list, std::regex("\\(\\?:([^()?*\\\\]*)\\)"))) return out;
    std::istringstream words(list[1]);
    for (std::string word; std::getline(words, word, '|');) out.insert(word);
    return out;
}

TEST(EditorGrammar, HasTheWordsOfTheLanguage) {
    const std::vector<std::string> statements = statement_keywords(), functions = function_names(), units = unit_names();
    EXPECT_EQ(words_of("statement"), Words(statements.begin(), statements.end()));
    EXPECT_EQ(words_of("function"), Words(functions.begin(), functions.end()));
    EXPECT_EQ(words_of("clause"), Words(clause_words().begin(), clause_words().end()));
    const std::string number = grammar()["repository"]["number"]["match"];
    const std::size_t second = number.find("[*/]");
    ASSERT_NE(second, std::string::npos);
    EXPECT_EQ(words_of("number", number.find("[ \\t]+(")), Words(units.begin(), units.end()));
    EXPECT_EQ(words_of("number", second), Words(units.begin(), units.end()));
}

TEST(EditorGrammar, EveryRuleExistsAndEveryPatternIsARegularExpression) {
    const nlohmann::json all = grammar();
    EXPECT_EQ(all["patterns"].size(), all["repository"].size());
    for (const auto& pattern : all["patterns"]) {
        const std::string name = pattern["include"].get<std::string>().substr(1);
        EXPECT_TRUE(all["repository"].contains(name)) << name;
    }
    const nlohmann::json package = nlohmann::json::parse(file_text(APPELL_SOURCE_DIR "/editors/vscode/package.json"));
    const std::string path = package["contributes"]["grammars"][0]["path"];
    EXPECT_FALSE(file_text(APPELL_SOURCE_DIR "/editors/vscode/" + path).empty());
    EXPECT_FALSE(file_text(APPELL_SOURCE_DIR "/editors/vscode/language-configuration.json").empty());
}

// statements, as the grammar sees them: at the beginning of every line of the gallery that begins one
TEST(EditorGrammar, ColoursTheStatementsOfTheGallery) {
    const std::regex statement(grammar()["repository"]["statement"]["match"].get<std::string>());
    std::istringstream lines(file_text(APPELL_SOURCE_DIR "/gallery/perpendicular_pucks.appell"));
    std::size_t found = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line[0] == '#' || line[0] == ' ') continue;
        EXPECT_TRUE(std::regex_search(line, statement)) << line;
        ++found;
    }
    EXPECT_GT(found, 60u);
}

}  // namespace
