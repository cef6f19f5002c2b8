/* Numbers that are not finite are found by what they do in comparisons, and every product and sum is rounded by itself: then the
   results are those of Appell to the last bit. gcc keeps to the latter with -ffp-contract=off only. */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compiled for finite numbers only (-ffast-math), this code would not notice a solve that fails"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif
