# Runs a plugin of Disbatch: calls new and run of its class, as the task runner of Disbatch does.
# Arguments: "check" or "run", and the name of the class. Uses modules of Perl's core only.
#
# check: loads the class, and prints "usable" as the last line if it has new and run.
# run:   reads the task as JSON, and writes what run returns into the files that the environment
#        names: first the outputs that it returned, then the status. Without a file for the status,
#        the plugin ended the process.
package Millrace::ObjectId;
use strict;
use warnings;
use overload '""' => sub { $_[0]->value }, fallback => 1;

# As BSON::OID has it, whose subclass it becomes with the driver of MongoDB.
sub new { my ($class, $hex) = @_; return bless { oid => pack('H*', $hex) }, $class }
sub value { return unpack 'H*', $_[0]{oid} }
sub to_string { return $_[0]->value }
sub hex { return $_[0]->value }
sub TO_JSON { return { '$oid' => $_[0]->value } }

package Millrace::Time;
use overload
    '""' => sub { $_[0]->iso8601 },
    '0+' => sub { $_[0]->hires_epoch },
    fallback => 1;

# As BSON::Time has it.
sub new { my ($class, $millis) = @_; return bless { value => $millis }, $class }
sub value { return $_[0]{value} }
sub epoch { return int($_[0]{value} / 1000) }
sub hires_epoch { return $_[0]{value} / 1000 }
sub TO_JSON { return { '$date' => $_[0]{value} } }

sub iso8601 {
    my @time = gmtime $_[0]->epoch;
    return sprintf '%04d-%02d-%02dT%02d:%02d:%02dZ', $time[5] + 1900, $time[4] + 1, @time[3, 2, 1, 0];
}

# What plugins find as "workerthread". It has a logger, and no connection to a database.
package Millrace::Workerthread;
our $AUTOLOAD;

sub logger { return bless {}, 'Millrace::Logger' }
sub DESTROY { }

sub AUTOLOAD {
    my ($self) = @_;
    (my $name = $AUTOLOAD) =~ s/.*:://;
    my $reason = $self->can('mongo') ? '' : ': Millrace gives plugins no connection to a database';
    die "the workerthread has no $name$reason\n";
}

# The same, with a connection to a database of MongoDB that begins when it is first used.
package Millrace::MongoWorkerthread;
our @ISA = ('Millrace::Workerthread');

# $url, $auth and $ca are what the options --queues, --queues-auth and --queues-ca of a node say.
sub new {
    my ($class, $self, $url, $auth, $ca) = @_;
    my ($database) = $url =~ m{//[^/?]*/([^?]+)};
    die "MILLRACE_MONGODB_URL names no database: $url\n" unless defined $database;
    $database =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge;
    # A file with certificates turns TLS on, whatever the address says.
    $url =~ s/([?&](?:tls|ssl))=false/$1=true/gi if $ca;
    $self->{config} = { mongohost => $url, database => $database };
    @$self{qw(auth ca)} = ($auth, $ca);
    return bless $self, $class;
}

sub mongo {
    my ($self) = @_;
    return $self->{mongo} if $self->{mongo};
    eval { require MongoDB; 1 } or die "the workerthread has no connection to the database:"
        . " the Perl module MongoDB cannot be loaded: $@";
    my %attributes = $self->{auth} ? credentials($self->{auth}) : ();
    $attributes{ssl} = { SSL_ca_file => $self->{ca} } if $self->{ca};
    my $client = MongoDB->connect($self->{config}{mongohost}, \%attributes);
    $self->{mongo} = $client->get_database(
        $self->{config}{database},
        { read_preference => 'primary', write_concern => { w => 'majority', wtimeout => undef } });
    # Ids and times of the task can be stored from now on.
    @Millrace::ObjectId::ISA = ('BSON::OID') if BSON::OID->can('new');
    @Millrace::Time::ISA = ('BSON::Time') if BSON::Time->can('new');
    return $self->{mongo};
}

sub credentials {
    my ($file) = @_;
    open my $handle, '<:raw', $file or die "$file: $!\n";
    my $json = do { local $/; <$handle> };
    close $handle;
    my $roles = eval { JSON::PP->new->utf8->decode($json) };
    my $own = ref $roles eq 'HASH' ? $roles->{plugin} : undef;
    my %own = ref $own eq 'HASH' ? map { $_ => $own->{$_} } qw(username password) : ();
    if (grep { !defined || ref } @own{qw(username password)}) {
        die "$file has no plugin with username and password\n";
    }
    return %own;
}

sub nodes { return $_[0]->mongo->get_collection('nodes') }
sub queues { return $_[0]->mongo->get_collection('queues') }
sub tasks { return $_[0]->mongo->get_collection('tasks') }
sub config { return $_[0]->mongo->get_collection('config') }

package Millrace::Logger;
our $AUTOLOAD;

sub DESTROY { }

sub AUTOLOAD {
    my (undef, @text) = @_;
    (my $level = $AUTOLOAD) =~ s/.*:://;
    return 0 if $level =~ /^is_/;
    my $text = join '', map { defined $_ ? $_ : '' } @text;
    die "$text\n" if $level =~ /^log(?:die|croak|confess)$/;
    print STDERR uc $level, ": $text\n";
    return 1;
}

package Millrace::Runner;
use Scalar::Util qw(blessed reftype);

my ($verb, $plugin) = splice @ARGV, 0, 2;
my $process = $$;
my %file = map { $_ => delete $ENV{"MILLRACE_RETURNED_\U$_"} } qw(stdout stderr);
$file{status} = $ENV{MILLRACE_STATUS_FILE};
$0 = "millrace plugin $plugin";

sub text_of {
    my ($error) = @_;
    return 'nothing' unless defined $error;
    return "$error" if !ref $error || (blessed $error && overload::Method($error, '""'));
    if (blessed $error && $error->can('message')) {
        my $message = eval { $error->message };
        return ref($error) . ": $message" if defined $message;
    }
    require Data::Dumper;
    return Data::Dumper->new([$error])->Terse(1)->Indent(1)->Maxdepth(4)->Dump;
}

# A text as UTF-8: characters are encoded, bytes that are UTF-8 stay, other bytes are Latin-1.
sub bytes_of {
    my $text = text_of($_[0]);
    if (!utf8::is_utf8($text)) {
        my $copy = $text;
        return $text if utf8::decode($copy);
    }
    utf8::encode($text);
    return $text;
}

sub store {
    my ($name, $bytes) = @_;
    open my $handle, '>:raw', $file{$name} or die "$file{$name}: $!\n";
    print {$handle} $bytes or die "$file{$name}: $!\n";
    close $handle or die "$file{$name}: $!\n";
}

sub complain {
    my ($reason) = @_;
    my $text = bytes_of($reason);
    $text .= "\n" unless $text =~ /\n\z/;
    binmode STDERR, ':raw';
    print STDERR $text;
}

# Ends a child that the plugin has forked: it is not to report.
sub end_child {
    return if $$ == $process;
    my ($reason) = @_;
    complain($reason) if defined $reason;
    require POSIX;
    POSIX::_exit(defined $reason ? 255 : 0);
}

sub fail {
    my ($reason) = @_;
    end_child($reason);
    complain($reason);
    store(status => 2) if $verb eq 'run';
    exit($verb eq 'run' ? 0 : 1);
}

sub load {
    (my $path = "$plugin.pm") =~ s{::}{/}g;
    my $loaded = eval { require $path; 1 };
    my $error = $@;
    fail("the plugin $plugin cannot be loaded: " . text_of($error)) unless $loaded;
    for my $method (qw(new run)) {
        fail("the plugin $plugin has no $method") unless $plugin->can($method);
    }
}

# JSON as Perl has it, with objects for ids and times.
sub objects {
    my ($value) = @_;
    return [map { objects($_) } @$value] if ref $value eq 'ARRAY';
    return $value if ref $value ne 'HASH';
    if (keys %$value == 1) {
        my ($kind, $content) = %$value;
        return Millrace::Time->new($content) if $kind eq '$date' && !ref $content;
        return id($content) if $kind eq '$oid' && !ref $content;
    }
    return { map { $_ => objects($value->{$_}) } keys %$value };
}

# An id as the MongoDB driver has it, if the plugin has loaded that.
sub id {
    my ($hex) = @_;
    return BSON::OID->new(oid => pack 'H*', $hex) if BSON::OID->can('new');
    return MongoDB::OID->new(value => $hex) if MongoDB::OID->can('new');
    return Millrace::ObjectId->new($hex);
}

sub task {
    open my $input, '<&:raw', \*STDIN or die "its task cannot be read: $!\n";
    my $json = do { local $/; <$input> };
    close $input;
    open STDIN, '<', '/dev/null' or die "/dev/null: $!\n";
    require JSON::PP;
    return objects(JSON::PP->new->utf8->decode($json));
}

sub workerthread {
    my $self = { node => $ENV{MILLRACE_NODE}, config => {} };
    my ($url, @files) = @ENV{map { "MILLRACE_MONGODB_$_" } qw(URL AUTH CA)};
    return $url
        ? Millrace::MongoWorkerthread->new($self, $url, @files)
        : bless $self, 'Millrace::Workerthread';
}

sub report {
    my ($result) = @_;
    if ((reftype($result) || '') ne 'HASH') {
        fail("run of $plugin returned " . text_of($result) . ' instead of a hash');
    }
    my ($status, %text) = $result->{status};
    for my $name (qw(stdout stderr)) {
        $text{$name} = bytes_of($result->{$name}) if defined $result->{$name};
    }
    if (!defined $status || $status !~ /\A[0-9]{1,10}\z/ || $status < 1 || $status > 0x7fffffff) {
        my $reason = "run of $plugin returned the status " . text_of($status)
            . ", which is no positive integer\n";
        if (exists $text{stderr}) {
            $text{stderr} .= "\n" unless $text{stderr} =~ /(?:\A|\n)\z/;
            $text{stderr} .= bytes_of($reason);
        } else {
            complain($reason);
        }
        $status = 2;
    }
    store($_ => $text{$_}) for keys %text;
    store(status => $status);
}

require JSON::PP if $verb eq 'check';
{
    my $stdout = select STDOUT;
    $| = 1;
    select $stdout;
}
load();
if ($verb eq 'check') {
    print "\nusable\n";
    exit 0;
}
my ($done, $result);
eval {
    my $object = $plugin->new(workerthread => workerthread(), task => task());
    die "new of $plugin returned no object\n" unless blessed $object;
    $result = $object->run;
    $done = 1;
};
my $error = $@;
end_child($done ? undef : text_of($error));
fail("uncaught exception: " . text_of($error)) unless $done;
eval { report($result); 1 } or fail('what it returned cannot be stored: ' . text_of($@));
