; Moat's installer for one user: no administrator, nothing outside the user's own folders.
; VERSION, NUMBERS, PUBLISHER, FILES, ICON, SETUP, SIZE_KB and COMPRESSION come from the build.

!ifdef TARGET
Target ${TARGET}
!endif
ManifestDPIAware true
SetCompressor ${COMPRESSION}
RequestExecutionLevel user

!include MUI2.nsh
!include LogicLib.nsh
!include FileFunc.nsh
!include x64.nsh
!include WinVer.nsh

!define RUN_KEY "Software\Microsoft\Windows\CurrentVersion\Run"
!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Moat"
!define STILL_RUNNING 5
!define WRONG_WINDOWS 6
!define NOT_OURS 7

Name "Moat"
BrandingText "Moat ${VERSION}"
OutFile "${SETUP}"
InstallDir "$LOCALAPPDATA\Programs\Moat"
InstallDirRegKey HKCU "Software\Moat" "Folder"

VIProductVersion "${NUMBERS}"
VIAddVersionKey "ProductName" "Moat"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Installs Moat"
VIAddVersionKey "CompanyName" "${PUBLISHER}"
VIAddVersionKey "LegalCopyright" "Apache-2.0"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_ABORTWARNING
!define MUI_FINISHPAGE_RUN "$INSTDIR\moat.exe"
!define MUI_FINISHPAGE_NOREBOOTSUPPORT
!insertmacro MUI_PAGE_COMPONENTS
!define MUI_PAGE_CUSTOMFUNCTION_LEAVE LeaveDirectory
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!define MUI_UNCONFIRMPAGE_TEXT_TOP "$(Kept)"
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"
!insertmacro MUI_LANGUAGE "SimpChinese"

LangString Program ${LANG_ENGLISH} "Moat and its starter model"
LangString Program ${LANG_GERMAN} "Moat und sein Startmodell"
LangString Program ${LANG_SIMPCHINESE} "Moat 及其入门模型"
LangString AtLogin ${LANG_ENGLISH} "Start when I log in"
LangString AtLogin ${LANG_GERMAN} "Beim Anmelden starten"
LangString AtLogin ${LANG_SIMPCHINESE} "登录时启动"
LangString Command ${LANG_ENGLISH} "The command moat in terminals"
LangString Command ${LANG_GERMAN} "Der Befehl moat im Terminal"
LangString Command ${LANG_SIMPCHINESE} "终端中的 moat 命令"
LangString Kept ${LANG_ENGLISH} "Moat is removed. Your models, chats and settings stay in $LOCALAPPDATA\moat; delete that folder yourself if you no longer want them."
LangString Kept ${LANG_GERMAN} "Moat wird entfernt. Ihre Modelle, Gespräche und Einstellungen bleiben in $LOCALAPPDATA\moat; löschen Sie diesen Ordner selbst, wenn Sie sie nicht mehr brauchen."
LangString Kept ${LANG_SIMPCHINESE} "将移除 Moat。您的模型、对话和设置保留在 $LOCALAPPDATA\moat 中；如不再需要，请自行删除该文件夹。"
LangString StillRunning ${LANG_ENGLISH} "Moat is still running. Quit it from its icon in the tray and end its commands in terminals, then try again."
LangString StillRunning ${LANG_GERMAN} "Moat läuft noch. Beenden Sie es über das Symbol im Infobereich sowie seine Befehle in Terminals und versuchen Sie es erneut."
LangString StillRunning ${LANG_SIMPCHINESE} "Moat 仍在运行。请从托盘图标退出，并结束终端中的 moat 命令，然后重试。"
LangString NotOurs ${LANG_ENGLISH} "$INSTDIR\$0 is not part of Moat, and installing here would replace it. Choose another folder."
LangString NotOurs ${LANG_GERMAN} "$INSTDIR\$0 gehört nicht zu Moat und würde hier ersetzt. Wählen Sie einen anderen Ordner."
LangString NotOurs ${LANG_SIMPCHINESE} "$INSTDIR\$0 不属于 Moat，安装到这里会替换它。请选择其他文件夹。"
LangString NeedsWindows ${LANG_ENGLISH} "Moat needs 64-bit Windows 10 or later."
LangString NeedsWindows ${LANG_GERMAN} "Moat braucht Windows 10 oder neuer mit 64 Bit."
LangString NeedsWindows ${LANG_SIMPCHINESE} "Moat 需要 64 位 Windows 10 或更高版本。"

; $2 becomes 1 when a program runs from this file: nobody can write to it then.
!macro SeeIfUsed FILE
    ${If} ${FileExists} "$INSTDIR\${FILE}"
        ClearErrors
        FileOpen $0 "$INSTDIR\${FILE}" a
        ${If} ${Errors}
            StrCpy $2 1
        ${Else}
            FileClose $0
        ${EndIf}
    ${EndIf}
!macroend

; Asks a running Moat to quit, and goes on when its files can be replaced. Commands in terminals
; have no one to ask: they run from bin\moat.exe until they are done, and all of it uses Python.
!macro QuitFirst un
Function ${un}QuitFirst
    again:
    ${IfNot} ${FileExists} "$INSTDIR\moat.exe"
        Return
    ${EndIf}
    ${If} ${FileExists} "$INSTDIR\bin\moat.exe"
        nsExec::Exec '"$INSTDIR\bin\moat.exe" quit'
        Pop $0
    ${EndIf}
    StrCpy $1 0
    ${Do}
        StrCpy $2 0
        !insertmacro SeeIfUsed "moat.exe"
        !insertmacro SeeIfUsed "bin\moat.exe"
        !insertmacro SeeIfUsed "python\python312.dll"
        ${If} $2 == 0
            Return
        ${EndIf}
        Sleep 500
        IntOp $1 $1 + 1
    ${LoopUntil} $1 >= 20
    IfSilent 0 +3
        SetErrorLevel ${STILL_RUNNING}
        Quit
    MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "$(StillRunning)" IDRETRY again
    SetErrorLevel ${STILL_RUNNING}
    Quit
FunctionEnd
!macroend
!insertmacro QuitFirst ""
!insertmacro QuitFirst "un."

; Only what the installer itself put there: the folder may be one the user has other things in.
!macro RemoveProgram
    RMDir /r "$INSTDIR\bin"
    RMDir /r "$INSTDIR\packages"
    RMDir /r "$INSTDIR\program"
    RMDir /r "$INSTDIR\python"
    RMDir /r "$INSTDIR\resources"
    Delete "$INSTDIR\LICENSE.txt"
!macroend

; NSIS takes any folder that was typed or given with /D: one that is no Moat must keep what it has.
; $0 becomes the name of something there that would be replaced, or stays empty.
!macro Strange NAME
    ${If} $0 == ""
    ${AndIf} ${FileExists} "$INSTDIR\${NAME}"
        StrCpy $0 "${NAME}"
    ${EndIf}
!macroend

Function FindStranger
    StrCpy $0 ""
    ; Both are there from the first moment of an installation to the last of a removal.
    ${If} ${FileExists} "$INSTDIR\moat.exe"
    ${AndIf} ${FileExists} "$INSTDIR\uninstall.exe"
        Return
    ${EndIf}
    !insertmacro Strange "bin"
    !insertmacro Strange "packages"
    !insertmacro Strange "program"
    !insertmacro Strange "python"
    !insertmacro Strange "resources"
    !insertmacro Strange "LICENSE.txt"
    !insertmacro Strange "moat.exe"
    !insertmacro Strange "uninstall.exe"
FunctionEnd

Function LeaveDirectory
    Call FindStranger
    ${If} $0 != ""
        MessageBox MB_OK|MB_ICONEXCLAMATION "$(NotOurs)"
        Abort
    ${EndIf}
FunctionEnd

; Whoever installs silently sees no page.
Function RefuseStrangers
    Call FindStranger
    ${If} $0 != ""
        MessageBox MB_OK|MB_ICONSTOP "$(NotOurs)" /SD IDOK
        SetErrorLevel ${NOT_OURS}
        Quit
    ${EndIf}
FunctionEnd

Function .onInit
    ${IfNot} ${RunningX64}
    ${OrIfNot} ${AtLeastWin10}
        MessageBox MB_OK|MB_ICONSTOP "$(NeedsWindows)" /SD IDOK
        SetErrorLevel ${WRONG_WINDOWS}
        Quit
    ${EndIf}
FunctionEnd

Section "$(Program)" SectionProgram
    SectionIn RO
    Call RefuseStrangers
    Call QuitFirst
    ${If} ${FileExists} "$INSTDIR\uninstall.exe"
        !insertmacro RemoveProgram
    ${EndIf}
    SetOutPath "$INSTDIR"
    WriteUninstaller "$INSTDIR\uninstall.exe"
    File /r "${FILES}"
    nsExec::Exec '"$INSTDIR\bin\moat.exe" --compile'
    Pop $0

    CreateShortcut "$SMPROGRAMS\Moat.lnk" "$INSTDIR\moat.exe"
    WriteRegStr HKCU "Software\Moat" "Folder" "$INSTDIR"
    WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "Moat"
    WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
    WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\moat.exe"
    WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "${PUBLISHER}"
    WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
    WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
    WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
    WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" ${SIZE_KB}
    WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
    WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
SectionEnd

; The same value that the switch in Moat's settings writes.
Section /o "$(AtLogin)" SectionAtLogin
    WriteRegStr HKCU "${RUN_KEY}" "Moat" '"$INSTDIR\moat.exe" "--role" "window" "--hidden"'
SectionEnd

Section /o "$(Command)" SectionCommand
    nsExec::Exec '"$INSTDIR\bin\moat.exe" --on-path yes'
    Pop $0
SectionEnd

Section "Uninstall"
    Call un.QuitFirst
    nsExec::Exec '"$INSTDIR\bin\moat.exe" --on-path no'
    Pop $0
    !insertmacro RemoveProgram
    Delete "$INSTDIR\moat.exe"
    Delete "$INSTDIR\uninstall.exe"
    RMDir "$INSTDIR"
    Delete "$SMPROGRAMS\Moat.lnk"
    DeleteRegValue HKCU "${RUN_KEY}" "Moat"
    DeleteRegKey HKCU "${UNINSTALL_KEY}"
    DeleteRegKey HKCU "Software\Moat"
    DetailPrint "$(Kept)"
SectionEnd
