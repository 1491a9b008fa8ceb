// First file of LinuxFilesTests.
