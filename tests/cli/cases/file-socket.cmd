python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('sock')"
weir bench sock
code=$?
rm sock
exit $code
