/* Starts Moat: loads the Python that was installed beside it and hands over the arguments.
 *
 * Built twice: as moat.exe without a console, and with CONSOLE defined as bin\moat.exe for terminals.
 */
#include <windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#define LONGEST 32768

typedef int (*PythonMain)(int count, wchar_t **arguments);

static int fail(const wchar_t *path)
{
    static wchar_t text[LONGEST + 128];
    swprintf(text, LONGEST + 128, L"Moat cannot be started: %ls cannot be loaded (error %lu). "
             L"Install Moat again to mend it.", path, GetLastError());
#ifdef CONSOLE
    fwprintf(stderr, L"%ls\n", text);
#else
    MessageBoxW(NULL, text, L"Moat", MB_OK | MB_ICONERROR);
#endif
    return 1;
}

static void cut_last_part(wchar_t *path)
{
    wchar_t *slash = wcsrchr(path, L'\\');
    if (slash)
        *slash = 0;
}

static int run(int count, wchar_t **arguments)
{
    static wchar_t program[LONGEST], folder[LONGEST], library[LONGEST + 64], script[LONGEST + 64];
    GetModuleFileNameW(NULL, program, LONGEST);
    wcscpy(folder, program);
    cut_last_part(folder);
#ifdef CONSOLE
    cut_last_part(folder);
#endif
    swprintf(library, LONGEST + 64, L"%ls\\python\\python312.dll", folder);
    swprintf(script, LONGEST + 64, L"%ls\\program\\start.py", folder);

    HMODULE python = LoadLibraryExW(library, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    PythonMain start = python ? (PythonMain)(void *)GetProcAddress(python, "Py_Main") : NULL;
    if (!start)
        return fail(library);

    wchar_t **passed = calloc(count + 2, sizeof *passed);
    if (!passed)
        return fail(library);
    passed[0] = program;
    passed[1] = script;
    for (int i = 1; i < count; i++)
        passed[i + 1] = arguments[i];
    return start(count + 1, passed);
}

#ifdef CONSOLE
int wmain(int count, wchar_t **arguments)
{
    return run(count, arguments);
}
#else
int WINAPI wWinMain(HINSTANCE self, HINSTANCE before, PWSTR line, int show)
{
    (void)self, (void)before, (void)line, (void)show;
    return run(__argc, __wargv);
}
#endif
