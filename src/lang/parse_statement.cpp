// Statements: dispatch on the schema's keywords, one small function per form. Each reads its parts in order and leaves the
// meaning to the elaboration.
#include <fmt/format.h>

#include "lang/parser.hpp"

namespace appell {

namespace {

class StatementParser {
public:
    StatementParser(TokenReader& reader, const Limits& limits, Syntax& syntax, Statement& out)
        : in_(reader), limits_(limits), syntax_(syntax), out_(out) {}

    bool run() {
        const Token keyword = in_.take();
        out_.keyword = out_.span = in_.span(keyword);
        in_.set_form(info(out_.kind).syntax);
        if (!body()) return false;
        if (!in_.at_end()) return trailing();
        out_.span = join(out_.span, in_.previous_span());
        return true;
    }

private:
    bool body() {
        switch (out_.kind) {
            case StatementKind::system: return name("the system's name") && optional_title();
            case StatementKind::include: return text(Role::title, "a file name in quotation marks");
            case StatementKind::newtonian: return name("the frame's name");
            case StatementKind::size:
            case StatementKind::speed:
            case StatementKind::let:
            case StatementKind::output:
            case StatementKind::tolerance: return items(true, false);
            case StatementKind::param:
            case StatementKind::input: return items(false, false);
            case StatementKind::coord: return items(false, true);
            case StatementKind::start: return items(true, true);
            case StatementKind::function: return function();
            case StatementKind::frame: return frame();
            case StatementKind::point: return point();
            case StatementKind::particle: return particle();
            case StatementKind::body: return rigid_body();
            case StatementKind::gravity:
            case StatementKind::potential: return expression(Role::vector);
            case StatementKind::force:
            case StatementKind::torque: return load_target() && value();
            case StatementKind::spring: return spring();
            case StatementKind::damper:
                return name("a point") && name("a point") && in_.expect_word("coefficient") && expression(Role::coefficient);
            case StatementKind::load: return on("a speed") && value();
            case StatementKind::constraint: return name("the constraint's name") && colon() && equations() && initially_off();
            case StatementKind::nonideal: return name("a constraint") && colon() && nonideal();
            case StatementKind::share: return share();
            case StatementKind::actuator: return name("the actuator's name") && colon() && actuator();
            case StatementKind::servo: return name("the servo-constraint's name") && colon() && equations() && by();
            case StatementKind::independent: return names("a speed");
            case StatementKind::evidence: return names("a constraint");
            case StatementKind::claim:
            case StatementKind::misprint: return claim();
            case StatementKind::condition: return name("the condition's name") && colon() && equations();
            case StatementKind::imply: return imply();
            case StatementKind::event: return event();
            case StatementKind::run: return run_plan();
            case StatementKind::plot: return plot();
            case StatementKind::for_: return family();
            case StatementKind::end: return true;
        }
        return false;
    }

    bool trailing() {
        std::string_view what = "the end of the statement";
        if (in_.kind() == TokenKind::word || in_.kind() == TokenKind::number)
            what = "an operator, a comma or the end of the statement";
        return in_.fail_expected(what);
    }

    Part& part(Role role) {
        Part& p = out_.parts.emplace_back();
        p.role = role;
        p.span = in_.span(in_.peek());
        return p;
    }

    void finish(std::size_t index) { out_.parts[index].span = join(out_.parts[index].span, in_.previous_span()); }

    bool read(SyntaxExpr& out) {
        in_.set_form({});
        const bool good = parse_expression(in_, limits_, syntax_, out);
        in_.set_form(info(out_.kind).syntax);
        return good;
    }

    bool expression(Role role) {
        const std::size_t index = out_.parts.size();
        Part& p = part(role);
        if (!read(p.expr)) return false;
        finish(index);
        return true;
    }

    bool name(std::string_view what, Role role = Role::name) {
        const std::size_t index = out_.parts.size();
        Part& p = part(role);
        if (!parse_name(in_, limits_, syntax_, p.name, what)) return false;
        finish(index);
        return true;
    }

    bool names(std::string_view what, Role role = Role::name) {
        do {
            if (!name(what, role)) return false;
        } while (in_.accept(TokenKind::comma));
        return true;
    }

    bool text(Role role, std::string_view what) {
        if (in_.kind() != TokenKind::string) return in_.fail_expected(what);
        Part& p = part(role);
        std::string_view written = in_.text(in_.take());
        written.remove_prefix(1);
        if (written.ends_with('"')) written.remove_suffix(1);
        p.word = std::string(written);
        return true;
    }

    bool optional_title() { return in_.kind() != TokenKind::string || text(Role::title, ""); }

    bool flag(Role role) {
        part(role);
        in_.take();
        return true;
    }

    bool word(Role role, std::string_view what) {
        if (in_.kind() != TokenKind::word) return in_.fail_expected(what);
        Part& p = part(role);
        p.word = std::string(in_.text(in_.take()));
        return true;
    }

    bool value(Role role = Role::value) { return in_.expect(TokenKind::equal, "`=`") && expression(role); }
    bool colon() { return in_.expect(TokenKind::colon, "`:`"); }

    // NAME [= EXPR] [fixed], ...
    bool items(bool needs_value, bool may_be_fixed) {
        do {
            if (!name("a name")) return false;
            if (needs_value || in_.kind() == TokenKind::equal)
                if (!value()) return false;
            if (may_be_fixed && in_.word() == "fixed") flag(Role::fixed);
        } while (in_.accept(TokenKind::comma));
        return true;
    }

    bool function() {
        if (!name("the function's name") || !in_.expect(TokenKind::open, "`(`")) return false;
        do {
            if (!name("an argument", Role::argument)) return false;
        } while (in_.accept(TokenKind::comma));
        if (!in_.expect(TokenKind::close, "`)`")) return false;
        if (in_.word() == "opaque") return flag(Role::opaque);
        if (in_.kind() != TokenKind::equal) return in_.fail_expected("`=` or `opaque`");
        return value();
    }

    // (E, E, ...)
    bool list(Role role, std::size_t least, std::size_t most, std::string_view what) {
        const std::size_t index = out_.parts.size();
        Part& p = part(role);
        if (!in_.expect(TokenKind::open, fmt::format("`(` and {}", what))) return false;
        const Span open = in_.previous_span();
        do {
            if (!read(p.list.emplace_back())) return false;
        } while (in_.accept(TokenKind::comma));
        if (in_.at_end()) return in_.fail(Code::E0106, open, "this bracket is not closed", "the end of the statement", "`)`");
        if (!in_.expect(TokenKind::close, "`,` or `)`")) return false;
        finish(index);
        if (p.list.size() < least || p.list.size() > most)
            return in_.fail(Code::E0105, p.span, fmt::format("expected {} here", what), fmt::format("{} of them", p.list.size()),
                            std::string(what));
        return true;
    }

    bool frame() {
        if (!name("the frame's name") || !in_.expect_word("from") || !name("the frame it is turned from", Role::parent))
            return false;
        if (in_.word() == "rotate") {
            in_.take();
            do {
                if (in_.word() == "rotate") return rotate_again();
                if (!expression(Role::angle) || !in_.expect_word("about") || !axis()) return false;
            } while (in_.accept(TokenKind::comma));
            return in_.word() != "rotate" || rotate_again();
        }
        if (in_.word() == "body" || in_.word() == "space") {
            const bool body = in_.text(in_.take()) == "body";
            const std::size_t index = out_.parts.size();
            if (!word(Role::sequence, "a sequence of axes such as zxz")) return false;
            Part& sequence = out_.parts[index];
            const bool axes = sequence.word.size() == 3 && sequence.word.find_first_not_of("xyz") == std::string::npos;
            if (!axes || sequence.word[0] == sequence.word[1] || sequence.word[1] == sequence.word[2])
                return in_.fail(Code::E0105, sequence.span, "expected a sequence of axes here", sequence.word,
                                "three of x, y, z, neighbours different, such as zxz or zyx");
            sequence.word.insert(sequence.word.begin(), body ? 'b' : 's');
            return list(Role::angle, 3, 3, "three angles");
        }
        if (in_.accept_word("quaternion")) return list(Role::quaternion, 4, 4, "four coordinates");
        if (in_.accept_word("cosines")) return list(Role::cosines, 3, 3, "three rows of three");
        return in_.fail_expected("`rotate`, `body`, `space`, `quaternion` or `cosines`");
    }

    bool rotate_again() {
        return in_.fail(Code::E0105, in_.span(in_.peek()), "`rotate` stands once in a frame", "`rotate`",
                        "a comma and the next angle, or the end of the statement",
                        "turns follow each other behind commas, `rotate a about z, b about x`; or name an intermediate frame: "
                        "`frame A from N rotate a about z`, then `frame B from A rotate b about x`");
    }

    bool axis() {
        const std::string_view w = in_.word();
        if (w == "x" || w == "y" || w == "z") return word(Role::axis, "");
        if (in_.kind() == TokenKind::open) return list(Role::axis, 3, 3, "three components");
        return in_.fail_expected("an axis: x, y, z or (a, b, c)");
    }

    bool point() {
        if (!name("the point's name")) return false;
        if (in_.accept_word("fixed")) return in_.expect_word("in") && name("a frame", Role::fixed_in);
        if (in_.accept_word("at")) return expression(Role::at);
        return in_.fail_expected("`at` or `fixed in`");
    }

    bool particle() {
        if (!name("the particle's name")) return false;
        bool mass = false, at = false;
        while (!in_.at_end()) {
            if (in_.word() == "mass" && !mass) {
                in_.take();
                mass = true;
                if (!expression(Role::mass)) return false;
            } else if (in_.word() == "at" && !at) {
                in_.take();
                at = true;
                if (!expression(Role::at)) return false;
            } else {
                return in_.fail_expected(mass ? at ? "the end of the statement" : "`at`" : "`mass`");
            }
        }
        return mass || in_.fail_expected("`mass`");
    }

    // what a body looks like: one size, or several in brackets; those that are round about an axis may name it
    bool shape() {
        const std::string kind(in_.word());
        const bool round = kind == "disk" || kind == "rod" || kind == "cylinder";
        if (!round && kind != "sphere" && kind != "box") return in_.fail_expected("`sphere`, `disk`, `cylinder`, `rod` or `box`");
        in_.take();
        const bool read = kind == "box"        ? list(Role::option, 3, 3, "three edges, (A, B, C)")
                          : kind == "cylinder" ? list(Role::option, 2, 2, "a radius and a length, (R, L)")
                                               : expression(Role::option);
        if (!read) return false;
        out_.parts.back().word = kind;
        if (!round || !in_.accept_word("along")) return true;
        const std::string_view w = in_.word();
        if (w != "x" && w != "y" && w != "z") return in_.fail_expected("an axis of the body's frame: x, y or z");
        return word(Role::axis, "");
    }

    bool rigid_body() {
        if (!name("the body's name")) return false;
        while (!in_.at_end()) {
            const std::string_view w = in_.word();
            const Span span = in_.span(in_.peek());
            Role role;
            bool good = false;
            if (w == "frame") {
                in_.take();
                role = Role::frame;
                good = name("a frame", role);
            } else if (w == "mass") {
                in_.take();
                role = Role::mass;
                good = expression(role);
            } else if (w == "center") {
                in_.take();
                role = in_.accept_word("at") ? Role::center_at : Role::center;
                good = role == Role::center_at ? expression(role) : name("a point, or `at` and a position", role);
            } else if (w == "inertia") {
                in_.take();
                role = Role::inertia;
                good = list(role, 3, 6, "three moments, or six moments and products of inertia");
                if (good && out_.parts.back().list.size() != 3 && out_.parts.back().list.size() != 6)
                    return in_.fail(Code::E0105, out_.parts.back().span, "expected three or six entries of inertia here",
                                    fmt::format("{} of them", out_.parts.back().list.size()),
                                    "(Ixx, Iyy, Izz) or (Ixx, Iyy, Izz, Ixy, Iyz, Izx)");
            } else if (w == "about") {
                in_.take();
                role = Role::about;
                good = name("a point", role);
            } else if (w == "in") {
                in_.take();
                role = Role::in;
                good = name("a frame", role);
            } else if (w == "shape") {
                in_.take();
                role = Role::option;
                good = shape();
            } else {
                return in_.fail_expected("`frame`, `mass`, `center`, `inertia`, `about`, `in` or `shape`");
            }
            if (!good) return false;
            int times = 0;
            for (const Part& p : out_.parts) times += p.role == role ? 1 : 0;
            if (times > 1) return in_.fail(Code::E0110, span, fmt::format("`{}` is given twice", w));
        }
        std::vector<std::string> missing;
        for (const auto& [role, what] : {std::pair{Role::frame, "`frame`"}, {Role::mass, "`mass`"}, {Role::inertia, "`inertia`"}})
            if (out_.find(role) == nullptr) missing.emplace_back(what);
        if (out_.find(Role::center) == nullptr && out_.find(Role::center_at) == nullptr) missing.emplace_back("`center`");
        if (missing.empty()) return true;
        return in_.fail(
            Code::E0110, out_.keyword,
            fmt::format("{} {} missing in this statement", fmt::join(missing, ", "), missing.size() == 1 ? "is" : "are"), {},
            std::string(info(out_.kind).syntax));
    }

    bool on(std::string_view what) { return in_.expect_word("on") && name(what, Role::on); }

    bool load_target() {
        const bool force = out_.kind == StatementKind::force;
        if (!on(force ? "a point or a body" : "a body")) return false;
        if (force && in_.accept_word("at") && !name("a point", Role::at)) return false;
        if (in_.accept_word("from") && !name(force ? "a point" : "a body", Role::from)) return false;
        return true;
    }

    bool spring() {
        if (!name("a point") || !name("a point") || !in_.expect_word("stiffness") || !expression(Role::stiffness)) return false;
        return !in_.accept_word("length") || expression(Role::length);
    }

    bool equations() {
        do {
            if (!expression(Role::left)) return false;
            const SyntaxExpr& left = out_.parts.back().expr;
            const bool relation = left.nodes.size() > 1 && left.nodes.back().kind == SyntaxKind::call &&
                                  is_relation(syntax_.names.text(left.nodes.back().name));
            if (relation && in_.kind() != TokenKind::equal) continue;
            if (out_.kind == StatementKind::constraint && in_.kind() != TokenKind::equal && split_inequality()) {
                if (in_.accept_word("restitution") && !expression(Role::restitution)) return false;
                continue;
            }
            if (in_.kind() != TokenKind::equal && !left.nodes.empty() && left.nodes.back().op == SyntaxOp::equal)
                return in_.fail(Code::E0105, left.nodes.back().span, "`==` asks whether two numbers are equal", "`==`",
                                "`=`, which makes them equal");
            if (in_.kind() != TokenKind::equal) return in_.fail_expected("`=`");
            if (!value(Role::right)) return false;
        } while (in_.accept(TokenKind::comma));
        return true;
    }

    // The expression read last, where it is a >= b or a <= b: its larger side becomes the left part, the other one the right.
    bool split_inequality() {
        SyntaxExpr whole = std::move(out_.parts.back().expr);
        const SyntaxOp op = whole.nodes.empty() ? SyntaxOp::none : whole.nodes.back().op;
        if (op != SyntaxOp::greater_equal && op != SyntaxOp::less_equal) {
            out_.parts.back().expr = std::move(whole);
            return false;
        }
        // backwards over the second operand: how many values it still needs
        std::size_t begin = whole.nodes.size() - 1;
        for (std::size_t needed = 1; needed > 0;) {
            const SyntaxNode& node = whole.nodes[--begin];
            if (node.kind == SyntaxKind::sum_end) {
                for (std::size_t open = 1; open > 0;) {
                    const SyntaxKind kind = whole.nodes[--begin].kind;
                    open += kind == SyntaxKind::sum_end ? 1 : 0;
                    open -= kind == SyntaxKind::sum_begin ? 1 : 0;
                }
                needed += 1;  // the two bounds
                continue;
            }
            needed = needed - 1 + operands(node);
        }
        SyntaxExpr left, right;
        const auto middle = whole.nodes.begin() + static_cast<std::ptrdiff_t>(begin);
        left.nodes.assign(whole.nodes.begin(), middle);
        right.nodes.assign(middle, whole.nodes.end() - 1);
        for (SyntaxExpr* side : {&left, &right}) {
            side->span = side->nodes.front().span;
            for (const SyntaxNode& node : side->nodes) side->span = join(side->span, node.span);
        }
        if (op == SyntaxOp::less_equal) std::swap(left, right);
        const Span span = out_.parts.back().span;
        out_.parts.back().expr = std::move(left);
        Part& other = out_.parts.emplace_back();
        other.role = Role::right;
        other.span = span;
        other.expr = std::move(right);
        Part& mark = out_.parts.emplace_back();
        mark.role = Role::unilateral;
        mark.span = span;
        return true;
    }

    bool initially_off() {
        if (in_.word() != "initially") return true;
        flag(Role::initially_off);
        return in_.expect_word("off");
    }

    bool by() {
        if (!in_.accept_word("by")) return true;
        do {
            if (!name("an actuator", Role::target)) return false;
        } while (in_.accept(TokenKind::comma));
        return true;
    }

    bool nonideal() {
        do {
            if (in_.word() == "friction") {
                if (!friction()) return false;
                continue;
            }
            if (!action() || !value(Role::action)) return false;
        } while (in_.accept(TokenKind::comma));
        return true;
    }

    // c1 = c2 = ...  or  c1 : c2 : ... = w1 : w2 : ...
    bool share() {
        if (!name("a constraint")) return false;
        const bool ratio = in_.kind() == TokenKind::colon;
        if (!ratio && in_.kind() != TokenKind::equal) return in_.fail_expected("`=` or `:`, and another constraint");
        while (in_.accept(ratio ? TokenKind::colon : TokenKind::equal))
            if (!name("a constraint")) return false;
        if (!ratio) return true;
        if (!value()) return false;
        while (in_.accept(TokenKind::colon))
            if (!expression(Role::value)) return false;
        return true;
    }

    // friction on P [at Q] [from R] [along VECTOR] = BOUND [static BOUND]
    bool friction() {
        in_.take();
        const std::size_t index = out_.parts.size();
        if (!in_.expect_word("on") || !name("a point or a body", Role::target)) return false;
        out_.parts[index].word = "friction";
        if (in_.accept_word("at") && !name("a point", Role::at)) return false;
        if (in_.accept_word("from") && !name("a point or a body", Role::from)) return false;
        if (in_.accept_word("along") && !expression(Role::along)) return false;
        if (!value(Role::bound)) return false;
        return !in_.accept_word("static") || expression(Role::static_bound);
    }

    // force on P | torque on B | load on u, as in the statements of these names
    bool action() {
        const std::string_view w = in_.word();
        if (w != "force" && w != "torque" && w != "load") return in_.fail_expected("`force`, `torque` or `load`");
        in_.take();
        const std::size_t index = out_.parts.size();
        if (!in_.expect_word("on") || !name("what it acts on", Role::target)) return false;
        out_.parts[index].word = std::string(w);
        if (w == "load") return true;
        if (w == "force" && in_.accept_word("at") && !name("a point", Role::at)) return false;
        return !in_.accept_word("from") || name(w == "force" ? "a point" : "a body", Role::from);
    }

    bool actuator() {
        const bool load = in_.word() == "load";
        if (!action()) return false;
        return load || (in_.expect_word("along") && expression(Role::action));
    }

    bool claim() {
        if (!text(Role::title, "the claim's label in quotation marks") || !colon() || !expression(Role::left)) return false;
        if (!value(Role::right)) return false;
        return !in_.accept_word("where") || expression(Role::where);
    }

    bool imply() {
        constexpr std::string_view k_what = "a constraint or a condition";
        if (!names(k_what) || !in_.expect(TokenKind::arrow, "`=>`") || !names(k_what, Role::target)) return false;
        return !in_.accept_word("except") || names(k_what, Role::where);
    }

    bool event() {
        if (!name("the event's name") || !colon() || !expression(Role::left)) return false;
        if (in_.word() == "rising" || in_.word() == "falling") word(Role::option, "");
        if (!in_.expect(TokenKind::arrow, "`=>`")) return false;
        do {
            const std::string_view w = in_.word();
            if (w == "stop" || w == "report") {
                word(Role::action, "");
            } else if (w == "drop" || w == "enforce") {
                const std::string what(in_.text(in_.take()));
                const std::size_t index = out_.parts.size();
                if (!name("a constraint", Role::target)) return false;
                out_.parts[index].word = what;
            } else if (w == "set") {
                in_.take();
                if (!name("a speed or a coordinate", Role::target) || !value()) return false;
            } else if (!out_.parts.empty() && out_.parts.back().role == Role::value && in_.kind() == TokenKind::word) {
                if (!name("a speed or a coordinate", Role::target) || !value()) return false;
            } else {
                return in_.fail_expected("`stop`, `report`, `set`, `drop` or `enforce`");
            }
        } while (in_.accept(TokenKind::comma));
        return true;
    }

    bool run_plan() {
        constexpr std::size_t k_most_times = 100'000;
        while (!in_.at_end()) {
            const std::string_view w = in_.word();
            const Span span = in_.span(in_.peek());
            const bool number = w == "for" || w == "from" || w == "every" || w == "step" || w == "first_step" ||
                                w == "max_step" || w == "rtol" || w == "atol";
            const bool times = w == "at", gains = w == "gains";
            const bool name_option = w == "formulation" || w == "integrator" || w == "stabilize";
            if (w == "to" || w == "until")
                return in_.fail(Code::E0105, span, "expected a part of the plan here", fmt::format("`{}`", w),
                                "`for` and how long the run is", "write `run from 2 s for 8 s`, or `run for 8 s` from t = 0 on");
            if (!number && !times && !gains && !name_option)
                return in_.fail_expected(
                    "`for`, `from`, `every`, `at`, `step`, `first_step`, `max_step`, `rtol`, `atol`, `formulation`, "
                    "`integrator`, "
                    "`stabilize` or `gains`");
            // `at (...)` and `at events` may stand side by side
            const bool events = times && in_.text(in_.peek(1)) == "events";
            for (std::size_t i = 0; i < out_.parts.size(); ++i)
                if (const Part& p = out_.parts[i];
                    p.role == Role::option && p.word == w && (!times || events == (out_.parts[i + 1].word == "events")))
                    return in_.fail(Code::E0110, span, fmt::format("`{}` is given twice", events ? "at events" : w));
            Part& p = part(Role::option);
            p.word = std::string(w);
            in_.take();
            if (times && in_.word() == "events") {
                word(Role::value, "");
            } else if (times) {
                if (!list(Role::value, 1, k_most_times, "times")) return false;
            } else if (gains) {
                if (!list(Role::value, 1, 2, "one or two gains")) return false;
            } else if (w == "every" && in_.word() == "step") {
                word(Role::value, "");
            } else if (number) {
                if (!expression(Role::value)) return false;
            } else {
                // names may hold a hyphen: udwadia-kalaba
                if (in_.kind() != TokenKind::word) return in_.fail_expected("a name");
                Part& choice = part(Role::value);
                choice.word = std::string(in_.text(in_.take()));
                while (in_.kind() == TokenKind::minus && in_.adjacent() && in_.kind(1) == TokenKind::word && in_.adjacent(1)) {
                    in_.take();
                    choice.word += '-';
                    choice.word += in_.text(in_.take());
                }
                choice.span = join(choice.span, in_.previous_span());
            }
            if (!in_.accept(TokenKind::comma)) continue;
            if (in_.at_end()) return in_.fail_expected("a part of the plan");
        }
        return true;
    }

    bool plot() {
        bool paths = false;
        do {
            if (in_.word() == "path" && in_.kind(1) == TokenKind::open) {
                in_.take();
                in_.take();
                paths = true;
                if (!name("a point", Role::path) || !in_.expect(TokenKind::close, "`)`")) return false;
            } else if (!expression(Role::trace)) {
                return false;
            }
        } while (in_.accept(TokenKind::comma));
        if (in_.accept_word("vs")) return expression(Role::vs);
        if (paths && in_.word() == "in") {
            in_.take();
            return in_.expect_word("plane") && plane_axis() && plane_axis();
        }
        return true;
    }

    bool plane_axis() {
        const std::string_view w = in_.word();
        if (w != "x" && w != "y" && w != "z") return in_.fail_expected("an axis: x, y or z");
        return word(Role::plane, "");
    }

    bool family() {
        if (!name("the loop name") || !in_.expect_word("in") || !expression(Role::first)) return false;
        if (!in_.expect(TokenKind::dots, "`..`") || !expression(Role::last)) return false;
        return !in_.accept_word("where") || expression(Role::where);
    }

    TokenReader& in_;
    const Limits& limits_;
    Syntax& syntax_;
    Statement& out_;
};

void report_unknown_statement(TokenReader& reader) {
    const Token& token = reader.peek();
    if (token.kind != TokenKind::word) {
        reader.fail(Code::E0104, reader.span(token), "a statement begins with a keyword", std::string(describe(token.kind)),
                    "a keyword such as `param` or `point`", "indent a line to continue the statement above it");
        return;
    }
    const std::string written(reader.text(token));
    const std::string near = nearest_name(written, statement_keywords());
    reader.fail(Code::E0104, reader.span(token), fmt::format("there is no statement `{}`", written), {}, {},
                near.empty() ? "indent a line to continue the statement above it" : fmt::format("did you mean `{}`?", near));
}

}  // namespace

void parse_file(std::string_view text, std::uint32_t file, const Limits& limits, Syntax& syntax, Diagnostics& diagnostics) {
    const std::size_t before = diagnostics.all().size();
    const Lexed lexed = lex(text, file, diagnostics);
    // statements that hold a lexical problem are read as far as they go, and report nothing more
    std::vector<std::uint32_t> spoiled;
    for (std::size_t i = before; i < diagnostics.all().size(); ++i) spoiled.push_back(diagnostics.all()[i].span.begin);
    struct OpenFamily {
        std::size_t index;
        bool broken;
    };
    std::vector<OpenFamily> open;
    std::size_t next_spoiled = 0;
    for (const TokenRange range : lexed.statements) {
        const std::uint32_t stop =
            range.end < lexed.tokens.size() ? lexed.tokens[range.end].begin : static_cast<std::uint32_t>(text.size());
        bool quiet = false;
        while (next_spoiled < spoiled.size() && spoiled[next_spoiled] < stop) {
            quiet = true;
            ++next_spoiled;
        }
        Diagnostics unheard;
        TokenReader reader(text, file, lexed, range, quiet ? unheard : diagnostics);
        const StatementInfo* row = find_statement(reader.word());
        Statement statement{};
        bool good = false;
        if (row == nullptr) {
            report_unknown_statement(reader);
        } else {
            statement.kind = row->kind;
            good = StatementParser(reader, limits, syntax, statement).run();
        }
        if (row != nullptr && row->kind == StatementKind::end) {
            if (open.empty()) {
                reader.fail(Code::E0108, statement.keyword, "this `end` closes no family");
            } else if (open.back().broken) {
                open.pop_back();
            } else {
                const std::size_t index = open.back().index;
                syntax.statements[index].block = syntax.statements.size() - index - 1;
                open.pop_back();
            }
            continue;
        }
        if (good && row->kind != StatementKind::for_ && !row->in_family && !open.empty())
            good = reader.fail(Code::E0109, statement.keyword, fmt::format("`{}` can not stand inside a family", row->keyword),
                               {}, {}, "move it out of the `for` block");
        if (row != nullptr && row->kind == StatementKind::for_) {
            if (open.size() >= limits.nesting)
                good = reader.fail(Code::E0011, statement.keyword, "families are nested too deeply", {},
                                   fmt::format("at most {} levels", limits.nesting), "use --limit nesting=N for more");
            open.push_back({syntax.statements.size(), !good});
        }
        if (good && !quiet) {
            syntax.statements.push_back(std::move(statement));
            continue;
        }
        // a broken family's block is read on, without its loop name; names of broken statements are not missed later
        if (!open.empty() && row != nullptr && row->kind == StatementKind::for_) open.back().broken = true;
        for (std::uint32_t i = range.begin; i < range.end; ++i)
            if (lexed.tokens[i].kind == TokenKind::word) syntax.poison(syntax.names.intern(reader.text(lexed.tokens[i])));
    }
    for (const OpenFamily& family : open) {
        if (family.broken) continue;
        Statement& statement = syntax.statements[family.index];
        diagnostics.add({Code::E0108, statement.keyword, "this family is not closed", {}, "`end` behind its statements", {}});
        statement.block = syntax.statements.size() - family.index - 1;
        statement.unclosed = true;
    }
}

}  // namespace appell
