# Where things go, by the GNU rules (FHS): program, library, headers, package files, gallery, pages. Included by the main file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(APPELL_PACKAGE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/appell)
set(APPELL_GALLERY_FOLDER ${CMAKE_INSTALL_DATADIR}/appell/gallery)

install(TARGETS appell RUNTIME)
install(TARGETS libappell EXPORT appell-targets LIBRARY)
install(FILES ${CMAKE_SOURCE_DIR}/include/appell/appell.hpp ${CMAKE_BINARY_DIR}/include/appell/version.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/appell)
install(EXPORT appell-targets NAMESPACE appell:: DESTINATION ${APPELL_PACKAGE_FOLDER})
configure_package_config_file(
  ${CMAKE_SOURCE_DIR}/cmake/appell-config.cmake.in ${CMAKE_BINARY_DIR}/appell-config.cmake
  INSTALL_DESTINATION ${APPELL_PACKAGE_FOLDER} PATH_VARS APPELL_GALLERY_FOLDER)
# before 1.0 a new minor version may break what an older one promised
write_basic_package_version_file(${CMAKE_BINARY_DIR}/appell-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/appell-config.cmake ${CMAKE_BINARY_DIR}/appell-config-version.cmake
        DESTINATION ${APPELL_PACKAGE_FOLDER})

# paths from the prefix where they are below it
foreach(place LIBDIR INCLUDEDIR DATADIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${place}}")
    set(PC_${place} "${CMAKE_INSTALL_${place}}")
  else()
    set(PC_${place} "\${prefix}/${CMAKE_INSTALL_${place}}")
  endif()
endforeach()
# `cmake --install --prefix` moves everything; the file is written when the prefix is known
configure_file(${CMAKE_SOURCE_DIR}/cmake/appell.pc.in ${CMAKE_BINARY_DIR}/appell.pc.half @ONLY)
install(CODE "file(READ \"${CMAKE_BINARY_DIR}/appell.pc.half\" PC_TEXT)
string(REGEX REPLACE \"^prefix=[^\\n]*\" \"prefix=\${CMAKE_INSTALL_PREFIX}\" PC_TEXT \"\${PC_TEXT}\")
file(WRITE \"${CMAKE_BINARY_DIR}/appell.pc\" \"\${PC_TEXT}\")")
install(FILES ${CMAKE_BINARY_DIR}/appell.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/gallery/ DESTINATION ${APPELL_GALLERY_FOLDER} FILES_MATCHING PATTERN "*.appell")
# laid out as in the source, so that links between pages lead somewhere
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/web/THIRD_PARTY.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(FILES ${CMAKE_SOURCE_DIR}/editors/appell.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME appell)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/editors/vscode DESTINATION ${CMAKE_INSTALL_DATADIR}/appell/editors)

install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

# `cpack -G DEB` in the build folder
set(CPACK_PACKAGE_NAME appell)
set(CPACK_PACKAGE_CONTACT "The Appell authors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-dejavu-core")
include(CPack)
