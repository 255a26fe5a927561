import TokenStoreCLI

TokenStoreProgram.main()
