# Writes the bundle of report.html into one C++ source, so that the library carries it: -DOUT=file -DFOLDER=web/dist
file(READ ${FOLDER}/report.js script)
file(READ ${FOLDER}/report.css style)
set(TEXT "#include \"report/report_assets.hpp\"\n\nnamespace appell {\n\n")
string(APPEND TEXT "const std::string_view k_report_script{R\"appell_report(${script})appell_report\"};\n")
string(APPEND TEXT "const std::string_view k_report_style{R\"appell_report(${style})appell_report\"};\n\n}  // namespace appell\n")
file(WRITE ${OUT}.new "${TEXT}")
file(COPY_FILE ${OUT}.new ${OUT} ONLY_IF_DIFFERENT)
