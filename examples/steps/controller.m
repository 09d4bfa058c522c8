% A height controller outside Airloom, for MATLAB, and for Octave with the package instrument-control.
%
% airloom serve hover --set systems={} --set vehicles.cf.controller=null --tcp 5555
1;  % tells Octave that this is a script, although it begins with a function

function reply = ask(link, request)
  write(link, uint8([jsonencode(request) char(10)]));
  line = uint8([]);
  while isempty(line) || line(end) ~= 10
    line = [line, uint8(read(link, max(1, link.NumBytesAvailable)))];
  end
  reply = jsondecode(char(line));
  if ~reply.ok
    error(reply.error);
  end
end

height = 1.0;     % m
frequency = 2.0;  % rad/s
port = getenv('AIRLOOM_PORT');  % 5555 if it is not set
if isempty(port), port = '5555'; end
if exist('OCTAVE_VERSION', 'builtin'), pkg load instrument-control; end
link = tcpclient('127.0.0.1', str2double(port));
about = ask(link, struct('method', 'describe'));
cf = about.vehicles.cf;
seen = ask(link, struct('method', 'reset', 'seed', 1, 'observe', 'cf'));
while seen.time < 6.0
  z = seen.vehicles.cf.position(3);
  climb = seen.vehicles.cf.velocity(3);
  acceleration = frequency^2 * (height - z) - 2 * frequency * climb;
  speed = sqrt(max(cf.mass * (cf.gravity + acceleration), 0) / sum(cf.thrust_constants));
  rotors = struct('vehicle', 'cf', 'speeds', speed * ones(1, cf.rotors));
  seen = ask(link, struct('method', 'step', 'ticks', 4, 'observe', 'cf', 'rotors', rotors));
end
fprintf('height %.3f m\n', seen.vehicles.cf.position(3));
