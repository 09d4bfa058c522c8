from airloom.cli import main

main()
