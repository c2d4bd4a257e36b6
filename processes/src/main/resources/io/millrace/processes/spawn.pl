# Runs programs, one after the other, and supervises each. Reads requests, see Supervisor, and writes
# what happens, a line each: "n WHY" when a program never begins, "t" when that is because the folder is
# another's, "r PID BOOT:START PID BOOT:START" when it begins, with its own identity and this process's,
# "e CODE" when it has ended, "d" when its output is complete and the next request may come.
# Argument: the pid of the launcher.
use strict;
use POSIX ();

# The launcher may die at any moment; that ends neither the program nor this, which records how it ends.
$SIG{PIPE} = 'IGNORE';
$SIG{CHLD} = 'DEFAULT';

# Linux alone; elsewhere, and before 5.3, it is refused, and ends are looked for.
use constant PIDFD_OPEN => 434;
use constant LOOK_SECONDS => 0.2;
use constant CHUNK => 65536;

sub content {
  my ($name) = @_;
  open(my $file, '<', $name) or return '';
  sysread($file, my $bytes, 4096);
  return $bytes;
}

my $boot = content('/proc/sys/kernel/random/boot_id');
$boot =~ s/\s+//g;

sub identity {
  my $stat = content('/proc/self/stat');
  # The second field is a name in parentheses that may hold anything, so count from its end.
  my @fields = split(' ', substr($stat, rindex($stat, ')') + 1));
  return int($stat) . " $boot:$fields[19]";
}

# What is written here is for the owner alone; programs get the umask that they would have had.
my $umask = umask(077);

my $launcher = shift @ARGV;
my $supervisor = identity();

sub tell_launcher {
  syswrite(STDOUT, "$_[0]\n");
}

sub take {
  my ($length) = @_;
  my $bytes = '';
  while (length($bytes) < $length) {
    my $got = sysread(STDIN, $bytes, $length - length($bytes), length($bytes));
    next if !defined $got && $!{EINTR};
    return undef if !$got;
  }
  return $bytes;
}

# In the program's own process, and in its folder still: never returns.
sub begin {
  my ($run, $directory, $variables, @command) = @_;
  my $never = sub {
    tell_launcher("n $_[0]");
    POSIX::_exit(125);
  };
  POSIX::setsid() != -1 or $never->("no session can be made for it: $!");
  my $own = identity();
  my $record = "$own\n$supervisor\n$run->{output}\n";
  my $written = syswrite($run->{record}, $record);
  $written && $written == length($record) or $never->("it cannot be recorded: $!");
  # Made by whoever comes first: this, or one who has found nothing begun and wants it to stay so.
  my $claimed = link('identity', 'claim');
  if (!$claimed && ($!{EPERM} || $!{ENOTSUP})) {
    $claimed = sysopen(my $file, 'claim', POSIX::O_CREAT | POSIX::O_EXCL | POSIX::O_WRONLY);
  }
  $claimed or $never->("its folder cannot be claimed: $!");
  # Some are ignored if the launcher was started in the background, and a program could not be ended by them. They
  # count from the moment on in which somebody may send one.
  $SIG{$_} = 'DEFAULT' for qw(HUP INT QUIT);
  tell_launcher("r $own $supervisor");
  umask($umask);
  POSIX::dup2(fileno($run->{input}), 0);
  POSIX::dup2(fileno($run->{target}), 1);
  POSIX::dup2(fileno($run->{error}), 2);
  if (!chdir($directory)) {
    syswrite(STDERR, "$directory: $!\n");
    POSIX::_exit(126);
  }
  $ENV{PWD} = $directory if exists $ENV{PWD};
  delete $ENV{OLDPWD};
  while ($variables-- > 0) {
    my $name = shift @command;
    $ENV{$name} = shift @command;
  }
  $SIG{PIPE} = 'DEFAULT';
  if (!exec { $command[0] } @command) {
    my $code = $!{ENOENT} ? 127 : 126;
    syswrite(STDERR, "$command[0]: $!\n");
    POSIX::_exit($code);
  }
}

# Appends to an output, which is made by its first bytes.
sub keep {
  my ($run, $name, $bytes) = @_;
  my $files = $run->{files};
  open($files->{$name}, '>>', $name) unless exists $files->{$name};
  my $from = 0;
  while ($from < length($bytes)) {
    my $done = syswrite($files->{$name}, $bytes, length($bytes) - $from, $from);
    next if !defined $done && $!{EINTR};
    # A full disk loses output and must not hold up the program.
    return if !$done;
    $from += $done;
  }
}

sub ended {
  my ($run) = @_;
  my $code = $? & 127 ? 128 + ($? & 127) : $? >> 8;
  # Where nothing was recorded nothing has begun.
  syswrite($run->{record}, "$code\n") if -s $run->{record};
  tell_launcher("e $code");
}

# Copies what comes from the pipes in order of arrival, until both are closed and the program has ended.
sub follow {
  my ($run, $pid, %pipes) = @_;
  my $handle = syscall(PIDFD_OPEN, $pid, 0);
  my $watched = '';
  vec($watched, $_, 1) = 1 for keys %pipes;
  vec($watched, $handle, 1) = 1 if $handle >= 0;
  my $running = 1;
  while (%pipes || $running) {
    my $patience = $running && $handle < 0 ? LOOK_SECONDS : undef;
    next if select(my $ready = $watched, undef, undef, $patience) < 0;
    for my $number (sort { $a <=> $b } keys %pipes) {
      next if !vec($ready, $number, 1);
      my ($pipe, $name) = @{ $pipes{$number} };
      my $got = sysread($pipe, my $bytes, CHUNK);
      next if !defined $got && $!{EINTR};
      if ($got) {
        keep($run, $name, $bytes);
        keep($run, 'mixed', $bytes);
      } else {
        vec($watched, $number, 1) = 0;
        delete $pipes{$number};
      }
    }
    if ($running && waitpid($pid, POSIX::WNOHANG) != 0) {
      $running = 0;
      ended($run);
      if ($handle >= 0) {
        vec($watched, $handle, 1) = 0;
        POSIX::close($handle);
      }
    }
  }
}

sub run {
  my ($output, $folder, $fed, @rest) = @_;
  # The folder that the launcher meant, which it is if the launcher lives when this is in it: only the
  # next launcher may remove it and make another one in its place.
  if (!chdir($folder) || getppid() != $launcher) {
    tell_launcher("n its folder or its launcher is gone: $!");
    return;
  }
  my %run = (output => $output, files => {});
  my $flags = POSIX::O_CREAT | POSIX::O_EXCL | POSIX::O_WRONLY | POSIX::O_APPEND;
  if (!sysopen($run{record}, 'identity', $flags)) {
    tell_launcher($!{EEXIST} ? 't' : "n its folder cannot be written: $!");
    return;
  }
  my (%pipes, $out, $err);
  my $opened = open($run{input}, '<', $fed ? 'stdin' : '/dev/null');
  if ($output eq 'ALL') {
    $opened &&= pipe($out, $run{target}) && pipe($err, $run{error});
    %pipes = (fileno($out) => [$out, 'stdout'], fileno($err) => [$err, 'stderr']) if $opened;
  } elsif ($output eq 'MIXED') {
    $opened &&= open($run{target}, '>>', 'mixed');
    $run{error} = $run{target};
  } else {
    $opened &&= open($run{target}, '>>', 'stdout') && open($run{error}, '>>', 'stderr');
  }
  my $pid = $opened ? fork() : undef;
  if (!defined $pid) {
    tell_launcher("n the system refuses it: $!");
    return;
  }
  begin(\%run, @rest) if $pid == 0;
  delete @run{qw(input target error)};
  if (%pipes) {
    follow(\%run, $pid, %pipes);
  } else {
    waitpid($pid, 0);
    ended(\%run);
  }
  syswrite($run{record}, "complete\n") if -s $run{record};
}

while (defined(my $length = take(10))) {
  my $request = take($length);
  last if !defined $request;
  run(split(/\0/, $request, -1));
  chdir('/');
  tell_launcher('d');
}
