# Installs setup.exe silently, asks the starter model something, updates it while it runs, removes it.
param([Parameter(Mandatory)] [string] $Setup)
$ErrorActionPreference = "Stop"

$folder = "$env:LOCALAPPDATA\Programs\Moat"
$data = "$env:LOCALAPPDATA\moat"
$port = 7777

function Run([string] $program, [string[]] $arguments) {
    $process = Start-Process $program $arguments -Wait -PassThru
    if ($process.ExitCode) { throw "$program $arguments ended with $($process.ExitCode)" }
}

function Wait-For([scriptblock] $holds, [string] $what) {
    foreach ($second in 1..90) {
        if (& $holds) { return }
        Start-Sleep 1
    }
    throw "$what did not happen"
}

function Test-Answers {
    try { (Invoke-RestMethod "http://127.0.0.1:$port/health" -TimeoutSec 2) | Out-Null; $true } catch { $false }
}

$other = "$env:TEMP\other"
New-Item "$other\bin\mine.txt" -Force | Out-Null
$refused = Start-Process $Setup @("/S", "/D=$other") -Wait -PassThru
if ($refused.ExitCode -ne 7) { throw "the folder of something else was not refused" }
if (-not (Test-Path "$other\bin\mine.txt")) { throw "the folder of something else was emptied" }

Run $Setup "/S"
& "$folder\bin\moat.exe" doctor
Start-Process "$folder\moat.exe" "--hidden"
Wait-For { Test-Answers } "serving"
$body = @{ messages = @(@{ role = "user"; content = "What is a moat?" }); max_tokens = 16 } | ConvertTo-Json -Depth 4
$answer = Invoke-RestMethod "http://127.0.0.1:$port/v1/chat/completions" -Method Post -Body $body -ContentType "application/json" -TimeoutSec 120
$text = $answer.choices[0].message.content
Write-Output $text
if (-not $text.Trim()) { throw "the answer is empty" }

Run $Setup "/S"
if (Test-Answers) { throw "the old one still runs after the update" }

Start-Process "$folder\moat.exe" "--hidden"
Wait-For { Test-Answers } "serving again"
Copy-Item "$folder\uninstall.exe" "$env:TEMP\moat-uninstall.exe"
Run "$env:TEMP\moat-uninstall.exe" @("/S", "_?=$folder")
if (Test-Answers) { throw "it still runs after its removal" }
if (Test-Path "$folder\moat.exe") { throw "the program is still there" }
if (-not (Test-Path $data)) { throw "the user's data is gone" }
Write-Output "The installer works."
