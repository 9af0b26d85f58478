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
LangString StillRunning ${LANG_ENGLISH} "Moat is still running. Quit it from its icon in the tray, then try again."
LangString StillRunning ${LANG_GERMAN} "Moat läuft noch. Beenden Sie es über das Symbol im Infobereich und versuchen Sie es erneut."
LangString StillRunning ${LANG_SIMPCHINESE} "Moat 仍在运行。请从托盘图标退出后重试。"
LangString NeedsWindows ${LANG_ENGLISH} "Moat needs 64-bit Windows 10 or later."
LangString NeedsWindows ${LANG_GERMAN} "Moat braucht Windows 10 oder neuer mit 64 Bit."
LangString NeedsWindows ${LANG_SIMPCHINESE} "Moat 需要 64 位 Windows 10 或更高版本。"

; Asks a running Moat to quit, and goes on when its files can be replaced.
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
        ClearErrors
        FileOpen $0 "$INSTDIR\moat.exe" a
        ${IfNot} ${Errors}
            FileClose $0
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
    Delete "$INSTDIR\moat.exe"
!macroend

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
    Call QuitFirst
    !insertmacro RemoveProgram
    SetOutPath "$INSTDIR"
    File /r "${FILES}"
    nsExec::Exec '"$INSTDIR\bin\moat.exe" --compile'
    Pop $0

    CreateShortcut "$SMPROGRAMS\Moat.lnk" "$INSTDIR\moat.exe"
    WriteUninstaller "$INSTDIR\uninstall.exe"
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
    Delete "$INSTDIR\uninstall.exe"
    RMDir "$INSTDIR"
    Delete "$SMPROGRAMS\Moat.lnk"
    DeleteRegValue HKCU "${RUN_KEY}" "Moat"
    DeleteRegKey HKCU "${UNINSTALL_KEY}"
    DeleteRegKey HKCU "Software\Moat"
    DetailPrint "$(Kept)"
SectionEnd
