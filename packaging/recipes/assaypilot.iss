; Inno Setup 6: an installer for Windows. Written without a Windows at hand and never run: see README.md beside this file.
; ISCC.exe /DVersion=0.2.0 /DDist=C:\path\to\dist packaging\recipes\assaypilot.iss

[Setup]
AppId=AssayPilot
AppName=AssayPilot
AppVersion={#Version}
AppPublisher=AssayPilot authors
DefaultDirName={autopf}\AssayPilot
DefaultGroupName=AssayPilot
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
; What the locked Qt runs on: Windows 10, version 1809.
MinVersion=10.0.17763
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
ChangesAssociations=yes
LicenseFile={#Dist}\assaypilot\LICENSE.txt
OutputDir={#Dist}
OutputBaseFilename=AssayPilot-{#Version}-setup
VersionInfoVersion={#Version}
SetupIconFile={#Dist}\work\icons\assaypilot.ico
UninstallDisplayIcon={app}\AssayPilot.exe
Compression=lzma2
SolidCompression=yes
WizardStyle=modern

[InstallDelete]
; An older version's libraries must not lie beside the new ones.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "{#Dist}\assaypilot\*"; DestDir: "{app}"; Flags: recursesubdirs createallsubdirs ignoreversion

[Icons]
Name: "{group}\AssayPilot"; Filename: "{app}\AssayPilot.exe"
Name: "{autodesktop}\AssayPilot"; Filename: "{app}\AssayPilot.exe"; Tasks: desktop

[Tasks]
Name: desktop; Description: "An icon on the desktop"; Flags: unchecked

[Registry]
Root: HKA; Subkey: "Software\Classes\.assaypilot\OpenWithProgids"; ValueType: string; ValueName: "AssayPilot.Campaign"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.assaypilot"; ValueType: string; ValueName: ""; ValueData: "AssayPilot.Campaign"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\AssayPilot.Campaign"; ValueType: string; ValueName: ""; ValueData: "AssayPilot campaign"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\AssayPilot.Campaign\DefaultIcon"; ValueType: string; ValueName: ""; ValueData: "{app}\AssayPilot.exe,0"
Root: HKA; Subkey: "Software\Classes\AssayPilot.Campaign\shell\open\command"; ValueType: string; ValueName: ""; ValueData: """{app}\AssayPilot.exe"" ""%1"""

[Run]
Filename: "{app}\AssayPilot.exe"; Description: "Start AssayPilot"; Flags: nowait postinstall skipifsilent
