package io.millrace.cli.queues;

import static org.assertj.core.api.Assertions.assertThat;

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import io.millrace.cli.Shell;
import io.millrace.processes.ProcessLauncher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server with its node on queues in MongoDB, as a user starts it. */
@Timeout(value = 360, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MongoUpTest {
  /** Stands for the driver of Perl where that is not installed. */
  private static final String DRIVER =
      """
      package MongoDB;
      sub connect { return bless {url => $_[1]}, $_[0] }
      sub get_database { return bless {%{$_[0]}, name => $_[1]}, 'MongoDB' }
      sub get_collection { return $_[0] }
      sub insert_one { $_[0]{report} = $_[1] }
      sub find_one { return $_[0]{report} }
      1;
      """;

  private final MongoServer mongo = new MongoServer(new MemoryBackend());
  private final String url = "mongodb://127.0.0.1:" + mongo.bind().getPort() + "/disbatch";
  private final Path root;
  private final List<Program> programs = new ArrayList<>();
  private String address = "";

  MongoUpTest(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void close() throws IOException {
    programs.forEach(Program::kill);
    Program.killAll(root);
    mongo.shutdownNow();
  }

  private void up(String... more) throws IOException {
    List<String> command = new ArrayList<>(List.of("up", "--port", "0", "--queues", url));
    command.addAll(List.of("--data", root.resolve("data").toString()));
    command.addAll(List.of(more));
    Program.Ready ready = Program.startReady(root.resolve("up.log"), command);
    programs.add(ready.program());
    int from = ready.line().indexOf("http://");
    address = ready.line().substring(from, ready.line().indexOf(' ', from));
  }

  private Shell.CommandResult run(String... command) {
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(List.of("--server", address));
    Shell.CommandResult ran = Shell.run(all.toArray(String[]::new));
    assertThat(ran.code()).as(ran.out() + ran.err()).isZero();
    return ran;
  }

  @Test
  void its_tasks_run_and_plugins_in_Perl_find_the_database() throws Exception {
    Shell.CommandResult before = Shell.run("doctor", "--port", "0", "--queues", url);
    assertThat(before.out()).contains("ok       --queues: version", "indexes are missing: queues");
    boolean perl = ProcessLauncher.program("perl").isPresent();
    Path lib = Files.createDirectories(root.resolve("lib"));
    Files.writeString(
        lib.resolve("Reports.pm"),
        """
        package Reports;
        sub new { my ($class, %self) = @_; return bless \\%self, $class }
        sub run {
            my ($self) = @_;
            my $reports = $self->{workerthread}->mongo->get_collection('reports');
            my $id = $self->{task}{_id};
            $reports->insert_one({task => $id, at => $self->{task}{ctime}});
            my $report = $reports->find_one({task => $id});
            return {status => 1, stdout => "reported $report->{task}"};
        }
        1;
        """);
    if (perl && new ProcessBuilder("perl", "-MMongoDB", "-e1").start().waitFor() != 0) {
      Files.writeString(lib.resolve("MongoDB.pm"), DRIVER);
    }
    up("--perl-lib", lib.toString());

    run("queues", "create", "shell", "--plugin", "shell", "--threads", "1");
    String told =
        run("tasks", "submit", "shell", "command=echo $MILLRACE_MONGODB_URL").out().strip();
    run("tasks", "wait", told, "--timeout", "2m");
    assertThat(run("tasks", "tail", told, "--stdout").out()).isEqualTo(url + "\n");
    if (perl) {
      run("config", "set", "plugins=[\"Reports\"]");
      run("queues", "create", "reports", "--plugin", "Reports", "--threads", "1");
      String reported = run("tasks", "submit", "reports", "user=ann").out().strip();
      run("tasks", "wait", reported, "--timeout", "2m");
      assertThat(run("tasks", "tail", reported, "--stdout").out())
          .isEqualTo("reported " + reported);
    }
    assertThat(Shell.run("doctor", "--port", "0", "--queues", url).out())
        .contains("ok       --queues: all indexes are there");
    assertThat(run("queues", "import", url, "--queue", "shell", "--dry-run").out())
        .contains("queue shell: 0 waiting, 0 held and 1 finished tasks would be imported");
  }

  private Program node(String name) throws IOException {
    Program.Ready ready =
        Program.startReady(
            root.resolve("node.log"),
            List.of("node", "--queues", url, "--name", name, "-d", root.resolve(name).toString()));
    programs.add(ready.program());
    assertThat(ready.line()).startsWith("Millrace node " + name + " serves " + url);
    return ready.program();
  }

  @Test
  void a_node_without_a_server_finds_its_tasks_again_after_a_kill() throws Exception {
    up("--no-node");
    Program first = node("alone");
    run("queues", "create", "shell", "--plugin", "shell", "--threads", "1");
    String wait = "until [ -e go ]; do sleep 0.1; done; echo gone";
    String task =
        run("tasks", "submit", "shell", "command=cd '" + root + "'; touch begun; " + wait)
            .out()
            .strip();
    while (!Files.exists(root.resolve("begun"))) {
      assertThat(first.isAlive()).isTrue();
      LockSupport.parkNanos(5_000_000);
    }
    first.kill();
    Program second = node("alone");
    Files.createFile(root.resolve("go"));

    run("tasks", "wait", task, "--timeout", "2m");
    assertThat(run("tasks", "tail", task, "--stdout").out()).isEqualTo("gone\n");
    assertThat(run("tasks", "show", task).out()).contains("alone");
    assertThat(second.stopped()).isZero();
    Shell.CommandResult both =
        Shell.run("node", "--queues", url, "--server", address, "--name", "x");
    assertThat(both.code()).isEqualTo(2);
    assertThat(both.err()).contains("--queues needs no server");
  }
}
