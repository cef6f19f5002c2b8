// What is wrong comes as data; wrong use throws.
#include <appell/appell.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

void expect(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "problems.cpp: %s\n", what);
    std::exit(1);
}

}  // namespace

int main() {
    const auto wrong =
        appell::System::read_text("system s\ncoord x = 0 m\nparticle P mass 1 kg at O + y*N.x\n", {}, "wrong.appell");
    expect(!wrong, "a model with an unknown name is no system");
    expect(wrong.messages.size() == 1, "one problem, one message");
    const appell::Message& message = wrong.messages.front();
    expect(message.kind == appell::Message::Kind::error && message.code[0] == 'E', "it is an error");
    expect(message.file == "wrong.appell" && message.line == 3 && message.column == 29, "it has a place");
    expect(message.shown.find("O + y*N.x") != std::string::npos, "it shows the line");
    expect(!appell::explanation(message.code).empty() && appell::explanation("E9999").empty(), "codes are explained");
    expect(!appell::System::read_file("/nowhere/at/all.appell"), "a file that is not there");

    const auto good = appell::System::read_text("system s\ncoord x = 0 m\nparticle P mass 1 kg at O + x*N.x\n");
    expect(bool(good), "a free particle is a system");
    auto evaluator = good->evaluator();
    try {
        (void)const_cast<appell::Evaluator&>(*evaluator).rates(0, {1, 2, 3});
        expect(false, "a state of the wrong length throws");
    } catch (const std::logic_error&) {
    }
    try {
        (void)good->equations({"newton"});
        expect(false, "a formulation that does not exist throws");
    } catch (const std::logic_error&) {
    }
    try {
        (void)wrong->name();
        expect(false, "a value that is not there throws");
    } catch (const std::logic_error&) {
    }
    // a run that can not go to its end keeps its rows and says why
    const auto spiral = appell::System::read_text(
        "system s\ncoord x = 1 m\nparticle P mass 1 kg at O + x*N.x\n"
        "force on P = 1 N*(x/1 m)^3*N.x\nrun for 100 s\n");
    const auto run = spiral->simulate();
    expect(bool(run) && run->reason != "finished" && run->rows() > 1, "a motion that ends in finite time keeps its rows");
    expect(!run.messages.empty(), "and a message says why");
    return 0;
}
