// Writes what each formulation prints of its own, in the order and with the letters of its source. One file each: this one's .cpp
// for what several share and `multipliers`; minimal_sections.cpp, nonminimal_sections.cpp, udwadia_sections.cpp,
// gibbs_appell_sections.cpp, rate_sections.cpp.
#pragma once

#include "report/equation_sections.hpp"

namespace appell {

class SectionWriter {
public:
    SectionWriter(const ConstrainedDynamics& dynamics, const ConstrainedDynamics& shown, const SpeedPartition& partition,
                  const std::string& decision, std::span<const double> state);

    [[nodiscard]] std::vector<Section> sections(Formulation formulation);

private:
    // --- names: generalized forces count the speeds from one
    static Math letter(const char* name) { return named(name, name); }
    static Math F(std::size_t speed);
    static Math F_star(std::size_t speed);
    static Math F_tilde(std::size_t speed);
    static Math F_star_tilde(std::size_t speed);
    static Section section(std::string title, std::string formula = "", std::string latex = "");

    // --- sums
    // rows of a symmetric matrix, given by its lower triangle, times the rates of some speeds
    [[nodiscard]] std::vector<NodeId> times_rates(const SparseMatrix& lower, std::span<const std::uint32_t> speeds) const;
    [[nodiscard]] std::vector<std::uint32_t> all_speeds() const;
    [[nodiscard]] static SparseMatrix full(const SparseMatrix& lower);  // both triangles

    // --- sections that several formulations have
    void constraint_rows();
    // A u' = b, or A~ u_I' = b~, of some rows
    [[nodiscard]] Equations row_equations(const SparseMatrix& A, std::span<const NodeId> b,
                                          std::span<const std::uint32_t> speeds) const;
    // sum_s lambda_s A_sr of the rows in evidence, by column of A
    [[nodiscard]] std::vector<NodeId> forces_in_evidence(const SparseMatrix& A) const;
    void evidence_vectors();  // these forces as vectors
    void generalized_forces(const std::vector<NodeId>& active);
    void choice();  // which speeds depend on which
    // the dependent rates in closed form; or the reason why not, the linear system, and false
    bool dependent_rates(const Elimination& elimination);
    // how rows that follow from each other were taken, and where the result holds
    void validity(const Elimination& elimination, Section& section) const;

    // --- formulations
    void multipliers();                             // 000 eqs. 5-7
    void minimal();                                 // 000 eqs. 8-18, 71-76
    void nonminimal();                              // 003 eqs. 16-50
    void scaled(bool without_generalized_inverse);  // 001 eqs. 47-49, 15-40
    void gibbs_appell();                            // 002 eqs. 72-75
    void in_rates(bool chaplygin);                  // 002 eqs. 48-57, 62-63
    [[nodiscard]] PartitionChoice rate_partition(const RateForm& form, std::span<const std::size_t> candidates) const;

    // nonminimal: A1, A2, T, V; without a closed form of A (and so without Q) only their definitions
    void final_form(const SparseMatrix* Q, const Elimination& elimination, const std::vector<NodeId>& P, std::size_t n,
                    std::size_t rank, const std::vector<std::uint32_t>& place);
    // scaled: V and the matrix whose inverse is J
    void annihilated(Section& motion, const std::vector<NodeId>& masses, const SparseMatrix& B, std::size_t n);
    // scaled: with full rank B^+ = J B^T = B^T (B B^T)^-1 (001 eq. 41), the force of constraint and the rates in closed form
    void explicit_motion(const std::vector<NodeId>& masses, bool without_generalized_inverse);

    const ConstrainedDynamics& d_;
    const ConstrainedDynamics& shown_;  // with the rows in evidence; none unless the user wants some
    const Model& m_;
    Graph& g_;
    Kinematics& kin_;
    const SpeedPartition& partition_;
    const std::string& decision_;
    std::span<const double> state_;
    std::vector<NodeId> rates_;  // u'
    std::vector<Section> out_;
};

}  // namespace appell
