package io.millrace.queues.runner;

import static io.millrace.queues.runner.Bench.json;
import static io.millrace.queues.runner.Bench.reason;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.processes.ProcessLauncher;
import io.millrace.queues.NodeConfig.OutputLimits;
import io.millrace.queues.Output;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Status;
import io.millrace.queues.plugin.PluginFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plugins of Disbatch in Perl. */
class PerlPluginTest {
  private final Bench bench;

  PerlPluginTest(@TempDir Path root) throws IOException {
    bench = new Bench(root);
  }

  @BeforeAll
  static void perl() {
    assumeTrue(ProcessLauncher.program("perl").isPresent(), "perl is not installed");
  }

  @AfterEach
  void close() {
    bench.close();
  }

  /** A class whose {@code new} keeps what it gets, with this as the body of {@code run}. */
  private void plugin(String name, String run) throws IOException {
    module(
        name,
        """
        package %s;
        use strict;
        use warnings;
        sub new { my ($class, %%self) = @_; return bless \\%%self, $class }
        sub run { my ($self) = @_; my $params = $self->{task}{params}; %s }
        1;
        """
            .formatted(name, run));
  }

  private Path module(String name, String source) throws IOException {
    Path file = bench.plugins.resolve(name.replace("::", "/") + ".pm");
    Files.createDirectories(file.getParent());
    return Files.writeString(file, source);
  }

  private String stdout(QueueTask task) throws IOException {
    return bench.text(task.output().stdout());
  }

  private String stderr(QueueTask task) throws IOException {
    return bench.text(task.output().stderr());
  }

  private static CompletableFuture<Void> carryOut(TaskRun run) {
    return CompletableFuture.runAsync(() -> {
      try {
        run.carryOut();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    });
  }

  @Test
  void what_run_returns_is_the_end_of_the_task_as_in_Disbatch() throws Exception {
    plugin(
        "Site::Plugin::Greet",
        """
        print "not in the task\n";
        warn "neither is this\n";
        $self->{workerthread}->logger->info('nor this');
        my $task = $self->{task};
        my $stdout = join ' ', "hello $params->{who}", $params->{n} + 1, $params->{list}[1],
            $params->{yes} ? 'yes' : 'no', defined $params->{none} ? 'some' : 'none';
        die if "$task->{_id}" ne $ENV{MILLRACE_TASK_ID} || $task->{queue}->value ne $ENV{MILLRACE_QUEUE};
        die if $task->{node} ne $ENV{MILLRACE_NODE} || $task->{status} != 0 || defined $task->{stdout};
        die if abs(time - $task->{ctime}->epoch) > 3600 || $task->{mtime} < $task->{ctime};
        die if defined <STDIN>;
        return {status => 17, stdout => $stdout, stderr => 'some errors'};
        """);

    QueueTask task =
        bench.run(
            "Site::Plugin::Greet",
            json("{'who': 'ann', 'n': 41, 'list': [1, 'b'], 'yes': true, 'none': null}"));

    assertThat(stderr(task)).isEqualTo("some errors");
    assertThat(stdout(task)).isEqualTo("hello ann 42 b yes none");
    assertThat(task.status()).isEqualTo(17);
    assertThat(reason(task)).isNull();
  }

  @Test
  void what_it_prints_stays_for_what_it_does_not_return() throws Exception {
    plugin("Prints", "print 'printed'; warn \"warned\\n\"; return {status => 1, stderr => undef}");

    QueueTask task = bench.run("Prints", json("{}"));

    assertThat(stdout(task)).isEqualTo("printed");
    assertThat(stderr(task)).isEqualTo("warned\n");
    assertThat(task.status()).isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void another_status_than_a_positive_integer_is_a_failure_that_is_told() throws Exception {
    plugin(
        "Odd",
        "return $params->{hash} ? {status => $params->{status}, stderr => 'e'} :"
            + " $params->{status}");
    for (String status : List.of("0", "-1", "'SUCCESS'", "1.5", "null", "[1]", "99999999999")) {
      QueueTask task = bench.run("Odd", json("{'hash': true, 'status': " + status + "}"));
      assertThat(task.status()).as(status).isEqualTo(Status.FAILED);
      assertThat(stderr(task)).startsWith("e\n").contains("which is no positive integer");
    }
    QueueTask none = bench.run("Odd", json("{'status': 1}"));
    assertThat(none.status()).isEqualTo(Status.FAILED);
    assertThat(stderr(none)).isEqualTo("run of Odd returned 1 instead of a hash\n");
  }

  @Test
  void an_exception_of_any_kind_is_a_failure_with_its_text() throws Exception {
    module(
        "My::Error",
        """
        package My::Error;
        sub message { 'said by a method' }
        1;
        """);
    plugin(
        "Dies",
        """
        require My::Error;
        print 'before';
        die "a text\\n" if $params->{how} eq 'text';
        die {code => 3} if $params->{how} eq 'hash';
        die bless({}, 'My::Error') if $params->{how} eq 'object';
        eval { die "inner\\n" };
        local $SIG{__DIE__} = sub { };
        die undef;
        """);

    QueueTask task = bench.run("Dies", json("{'how': 'text'}"));
    assertThat(task.status()).isEqualTo(Status.FAILED);
    assertThat(stdout(task)).isEqualTo("before");
    assertThat(stderr(task)).isEqualTo("uncaught exception: a text\n");
    assertThat(stderr(bench.run("Dies", json("{'how': 'hash'}")))).contains("'code' => 3");
    assertThat(stderr(bench.run("Dies", json("{'how': 'object'}"))))
        .isEqualTo("uncaught exception: My::Error: said by a method\n");
    assertThat(stderr(bench.run("Dies", json("{'how': 'undef'}")))).contains("inner");
  }

  @Test
  void a_plugin_that_ends_its_process_has_failed() throws Exception {
    plugin(
        "Ends",
        """
        exit $params->{code} if defined $params->{code};
        exec 'true' if $params->{exec};
        kill KILL => $$;
        """);

    for (String how : List.of("{'code': 0}", "{'code': 3}", "{'exec': true}", "{}")) {
      QueueTask task = bench.run("Ends", json(how));
      assertThat(task.status()).as(how).isEqualTo(Status.FAILED);
      assertThat(stderr(task)).contains("ended its process").contains("before it had returned");
    }
  }

  @Test
  void only_the_process_that_was_started_reports_and_none_is_left() throws Exception {
    plugin(
        "Forks",
        """
        my $child = fork;
        return {status => 5, stdout => 'by the child'} if !$child && !$params->{stay};
        if (!$child) { sleep 600 }
        waitpid $child, 0 unless $params->{stay};
        return {status => 1, stdout => "by $child"};
        """);

    QueueTask task = bench.run("Forks", json("{}"));
    assertThat(task.status()).isEqualTo(Status.SUCCEEDED);
    assertThat(stdout(task)).startsWith("by ").doesNotContain("child");

    QueueTask left = bench.run("Forks", json("{'stay': true}"));
    long child = Long.parseLong(stdout(left).substring("by ".length()));
    assertThat(left.status()).isEqualTo(Status.SUCCEEDED);
    ProcessLauncher launcher = ProcessLauncher.create();
    // It was sent KILL when its task ended, and is seen until it has been scheduled once more.
    while (launcher.identify(child).isPresent()) {
      LockSupport.parkNanos(5_000_000);
    }
  }

  @Test
  void a_class_that_cannot_be_used_fails_the_task_and_says_why() throws Exception {
    module("Broken", "package Broken; sub run { nonsense here }");
    module("Needs", "package Needs; use No::Such::Module; sub new {} sub run {} 1;");
    module("NoNew", "package NoNew; sub run { } 1;");
    module("NoObject", "package NoObject; sub new { 'x' } sub run { } 1;");
    PluginFolder folder = new PluginFolder(bench.plugins);

    for (String[] one :
        new String[][] {
          {"Broken", "the plugin Broken cannot be loaded: "},
          {"Needs", "No/Such/Module.pm"},
          {"NoNew", "the plugin NoNew has no new"},
          {"NoObject", "new of NoObject returned no object"},
        }) {
      QueueTask task = bench.run(one[0], json("{}"));
      assertThat(task.status()).as(one[0]).isEqualTo(Status.FAILED);
      assertThat(stderr(task)).contains(one[1]);
      if (!one[0].equals("NoObject")) {
        assertThat(folder.perlProblem(one[0], Duration.ofMinutes(1)).orElseThrow())
            .contains(one[1]);
      }
    }
  }

  @Test
  void texts_of_any_encoding_and_length_are_kept() throws Exception {
    bench.limits = new OutputLimits(OutputLimits.Files.AUTO, 10_000, 10_000_000);
    plugin(
        "Texts",
        """
        print 'x' x 3_000_000 if $params->{until};
        select undef, undef, undef, 0.01 while $params->{until} && !-e $params->{until};
        my %text = (latin => "caf\\xe9", bytes => "caf\\xc3\\xa9", characters => "\\x{263a}\\xe9",
            long => 'a' x 600_000, empty => '', list => [1]);
        return {status => 1, stdout => $text{$params->{what}}};
        """);

    assertThat(stdout(bench.run("Texts", json("{'what': 'latin'}")))).isEqualTo("café");
    assertThat(stdout(bench.run("Texts", json("{'what': 'bytes'}")))).isEqualTo("café");
    assertThat(stdout(bench.run("Texts", json("{'what': 'characters'}")))).isEqualTo("☺é");
    assertThat(stdout(bench.run("Texts", json("{'what': 'empty'}")))).isEmpty();
    assertThat(bench.chunks()).isEmpty();
    Path until = bench.root().resolve("until");
    TaskRun run = bench.begin("Texts", json("{'what': 'long', 'until': '" + until + "'}"));
    CompletableFuture<Void> over = carryOut(run);
    while (bench.chunks().isEmpty()) {
      LockSupport.parkNanos(5_000_000);
    }
    Files.createFile(until);
    over.join();
    QueueTask task = bench.task(run.assignment().task());
    assertThat(task.output().stdout()).isInstanceOf(Output.Stored.class);
    assertThat(stdout(task)).isEqualTo("a".repeat(600_000));
    assertThat(bench.chunks()).hasSize(3);
    assertThat(reason(task)).isNull();
  }

  @Test
  void a_plugin_is_ended_like_any_program() throws Exception {
    Path ready = bench.root().resolve("ready");
    plugin(
        "Sleeps",
        """
        $SIG{TERM} = sub { print 'told'; exit 1 };
        open my $file, '>', $params->{ready} or die; close $file;
        sleep 600;
        """);
    TaskRun run = bench.begin("Sleeps", json("{'ready': '" + ready + "'}"));
    CompletableFuture<Void> over = carryOut(run);
    while (!Files.exists(ready)) {
      LockSupport.parkNanos(5_000_000);
    }

    run.stop(Duration.ofMinutes(1));
    over.join();

    QueueTask task = bench.task(run.assignment().task());
    assertThat(task.status()).isEqualTo(Status.TERMINATED);
    assertThat(stdout(task)).isEqualTo("told");
  }

  @Test
  void plugins_are_found_where_Perl_finds_them_and_shown_if_they_have_a_run() throws Exception {
    plugin("Site::Plugin::One", "return {status => 1}");
    Path more = Files.createDirectories(bench.root().resolve("more/Site"));
    Files.writeString(
        more.resolve("Two.pm"),
        "package Site::Two; sub new { bless {} } sub run { {status => 9} } 1;");
    Files.writeString(more.resolve("Tools.pm"), "package Site::Tools; sub walk { } 1;");
    PluginFolder folder = new PluginFolder(bench.plugins, List.of(more.getParent()));
    String before = folder.mark();

    assertThat(folder.names())
        .contains("Site::Plugin::One", "Site::Two")
        .doesNotContain("Site::Tools");
    assertThat(folder.isPerl("Site::Two")).isTrue();
    assertThat(folder.has("Site::Tools")).isTrue();
    assertThat(folder.has("Site::Three")).isFalse();
    assertThat(folder.has("Site::..::Two")).isFalse();
    assertThat(folder.perlProblem("Site::Two", Duration.ofMinutes(1))).isEmpty();
    Files.writeString(more.resolve("Three.pm"), "1;");
    assertThat(folder.mark()).isNotEqualTo(before);
    assertThat(folder.has("Site::Three")).isTrue();
  }
}
