# llama.cpp, as this program needs it. Of its library `common` only the files that we link are compiled (the rest is the
# command line, the download and the chat parsers of its own programs): a third of the whole build of llama.cpp.
# What computes is ggml; the rest is compiled with -O1, which no token notices.
if(PROJECT_NAME STREQUAL "llama.cpp")
    function(steward_trim_llama)
        get_target_property(sources llama-common SOURCES)
        list(FILTER sources INCLUDE REGEX
            "^(common|fit|json|json-schema|json-schema-to-grammar|log|ngram-cache|ngram-map|ngram-mod|reasoning-budget|sampling|speculative|trie|unicode)\\.(cpp|h)$")
        set_property(TARGET llama-common PROPERTY SOURCES ${sources})
        # Only what is left out above needs it, but the build wants the archive.
        set_property(TARGET cpp-httplib PROPERTY SOURCES httplib.h)
        set_property(TARGET cpp-httplib PROPERTY LINKER_LANGUAGE CXX)
        foreach(target llama llama-common ggml-base)
            target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O1>)
        endforeach()
    endfunction()
    cmake_language(DEFER CALL steward_trim_llama)
endif()
