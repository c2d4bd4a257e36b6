package io.millrace.queues.runner;

import static io.millrace.queues.runner.Bench.json;
import static io.millrace.queues.runner.Bench.reason;
import static io.millrace.queues.runner.Bench.shell;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Scheduled;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the kinds of plugins make of a task. */
class TaskRunTest {
  private final Bench bench;

  TaskRunTest(@TempDir Path root) throws IOException {
    bench = new Bench(root);
  }

  @AfterEach
  void close() {
    bench.close();
  }

  @Test
  void a_shell_command_runs_in_bash_and_its_output_is_kept() throws Exception {
    QueueTask task = bench.run("shell", shell("[[ a == a* ]] && echo out; echo err >&2"));

    assertThat(task.status()).isEqualTo(Status.SUCCEEDED);
    assertThat(bench.text(task.output().stdout())).isEqualTo("out\n");
    assertThat(bench.text(task.output().stderr())).isEqualTo("err\n");
    assertThat(reason(task)).isNull();
    assertThat(bench.queues.runs().all()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"exit 1,2", "exit 7,2", "kill -9 $$,2", "exit 0,1"})
  void an_exit_code_becomes_a_status(String command, int status) throws Exception {
    assertThat(bench.run("shell", shell(command)).status()).isEqualTo(status);
  }

  @ParameterizedTest
  @CsvSource({"17,17", "1,1", "0,2", "-3,2", "many,2", "9999999999,2"})
  void a_status_file_says_another_status(String word, int status) throws Exception {
    QueueTask task = bench.run("shell", shell("echo " + word + " > \"$MILLRACE_STATUS_FILE\""));

    assertThat(task.status()).isEqualTo(status);
    if (status == Status.FAILED) {
      assertThat(bench.text(task.output().stderr())).contains("status file").contains(word);
    }
  }

  @Test
  void a_status_file_asks_to_be_tried_again_later_or_to_be_put_off() throws Exception {
    bench.retry("attempts", "2");
    QueueTask again = bench.run("shell", shell("echo 2 3h > \"$MILLRACE_STATUS_FILE\"; exit 75"));
    assertThat(again.status()).isEqualTo(Status.QUEUED);
    assertThat(reason(again)).isEqualTo("attempt 1 of 2 failed: exit code 75");
    assertThat(notBefore(again)).isEqualTo(Duration.ofHours(3));

    QueueTask off = bench.run("shell", shell("echo snooze 5m > \"$MILLRACE_STATUS_FILE\""));
    assertThat(off.status()).isEqualTo(Status.QUEUED);
    assertThat(reason(off)).isEqualTo("it snoozed for 5m");
    assertThat(off.progress().attempt()).isZero();
    assertThat(notBefore(off)).isEqualTo(Duration.ofMinutes(5));

    QueueTask wrong = bench.run("shell", shell("echo 1 5m > \"$MILLRACE_STATUS_FILE\""));
    assertThat(wrong.status()).isEqualTo(Status.QUEUED);
    assertThat(bench.text(wrong.output().stderr())).contains("the status file says \"1 5m\"");
  }

  private static Duration notBefore(QueueTask task) {
    return Duration.ofMillis(
        task.progress().retries().notBeforeMillis() - task.progress().mtimeMillis());
  }

  @Test
  void work_that_takes_longer_than_its_timeout_is_ended_and_has_failed() throws Exception {
    bench.retry("timeout", "100ms", "attempts", "2");
    QueueTask again = bench.run("shell", shell("echo begun; sleep 1000 & wait"));
    assertThat(again.status()).isEqualTo(Status.QUEUED);
    assertThat(reason(again))
        .isEqualTo("attempt 1 of 2 failed: it took longer than its timeout of 100ms");

    bench.retry("timeout", "100ms", "attempts", "2", "retry_except", "timeout");
    QueueTask end = bench.run("shell", shell("exec sleep 1000"));
    assertThat(end.status()).isEqualTo(Status.FAILED);
    assertThat(reason(end)).isEqualTo("it took longer than its timeout of 100ms");

    bench.retry("timeout", "1h");
    assertThat(bench.run("shell", shell("true")).status()).isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void work_is_ended_and_not_repeated_when_its_task_is_over_time_as_a_whole() throws Exception {
    bench.retry("total_timeout", "1s", "attempts", "5", "timeout", "1h");
    QueueTask end = bench.run("shell", shell("exec sleep 1000"));
    assertThat(end.status()).isEqualTo(Status.FAILED);
    assertThat(reason(end)).isEqualTo("it took longer than its total_timeout of 1s");
  }

  @Test
  void an_exit_code_that_is_an_exception_is_final() throws Exception {
    bench.retry("attempts", "2", "retry_except", "64");
    assertThat(bench.run("shell", shell("exit 64")).status()).isEqualTo(Status.FAILED);
    assertThat(bench.run("shell", shell("exit 65")).status()).isEqualTo(Status.QUEUED);
  }

  @Test
  void what_the_status_file_says_counts_whatever_the_exit_code() throws Exception {
    QueueTask task = bench.run("shell", shell("echo 7 > \"$MILLRACE_STATUS_FILE\"; exit 9"));

    assertThat(task.status()).isEqualTo(7);
    assertThat(reason(task)).isEqualTo("exit code 9");
  }

  @Test
  void a_program_knows_of_which_schedule_it_is_a_run() throws Exception {
    Scheduled run = new Scheduled("nightly", 1_767_231_000_000L, 1_767_231_001_500L);
    QueueTask task =
        bench.run(
            "shell",
            shell("echo $MILLRACE_SCHEDULE $MILLRACE_NOMINAL_TIME $MILLRACE_STARTED_AT"),
            run);
    assertThat(bench.text(task.output().stdout()))
        .isEqualTo("nightly 2026-01-01T01:30:00Z 2026-01-01T01:30:01.500Z\n");
    assertThat(task.scheduled()).isEqualTo(run);
  }

  @Test
  void a_program_knows_which_task_it_is_and_gets_a_folder_that_is_emptied() throws Exception {
    String command =
        "echo $MILLRACE_TASK_ID $MILLRACE_TOKEN $MILLRACE_NODE $MILLRACE_QUEUE $MILLRACE_PLUGIN;"
            + " pwd; echo left > file";
    TaskRun run = bench.begin("shell", shell(command));
    run.carryOut();

    String[] lines =
        bench.text(bench.task(run.assignment().task()).output().stdout()).split("\n", -1);
    Run claimed = run.assignment().run();
    long token = claimed.claim().token();
    assertThat(lines[0])
        .isEqualTo(claimed.task() + " " + token + " bench " + claimed.queue() + " shell");
    assertThat(Path.of(lines[1])).isEmptyDirectory();
  }

  @Test
  void exec_passes_arguments_environment_and_folder_as_they_are() throws Exception {
    Path folder = Files.createDirectory(bench.root().resolve("here"));
    QueueTask task =
        bench.run(
            "exec",
            json(
                "{'command':'sh','args':['-c','echo \\\"$1\\\" $GREETING; pwd','x','a  $b'],"
                    + "'env':{'GREETING':'hi'},'cwd':'"
                    + folder
                    + "'}"));

    assertThat(bench.text(task.output().stdout()))
        .isEqualTo("a  $b hi\n" + folder.toRealPath() + "\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{'command':''}",
        "{'command':['x']}",
        "{'command':'true','args':'x'}",
        "{'command':'true','env':['x']}",
        "{'command':'true','env':{'A B':'x'}}",
        "{'command':'true','cwd':'/nowhere'}",
        "{'command':'no-such-program'}",
        "{'command':'-x'}"
      })
  void wrong_params_fail_with_the_reason_in_stderr(String params) throws Exception {
    QueueTask task = bench.run("exec", json(params));

    assertThat(task.status()).isEqualTo(Status.FAILED);
    assertThat(bench.text(task.output().stderr())).isNotBlank();
  }

  @Test
  void an_executable_gets_its_params_as_json_on_standard_input() throws Exception {
    bench.program("Disbatch::Plugin::Echo", "#!/bin/sh\ncat\necho 42 >\"$MILLRACE_STATUS_FILE\"\n");

    QueueTask task = bench.run("Disbatch::Plugin::Echo", json("{'user1':'ashley','n':[1,2]}"));

    assertThat(task.status()).isEqualTo(42);
    assertThat(bench.text(task.output().stdout())).isEqualTo("{\"user1\":\"ashley\",\"n\":[1,2]}");
  }

  @Test
  void the_demo_says_what_it_would_do() throws Exception {
    QueueTask task =
        bench.run(
            "demo",
            json(
                "{'migration':'oneoff','user1':'ashley@example.com',"
                    + "'user2':'ashley@example.com','commands':'*'}"));

    assertThat(task.status()).isEqualTo(Status.SUCCEEDED);
    assertThat(bench.text(task.output().stdout())).contains("oneoff").contains("ran *");
  }

  @ParameterizedTest
  @ValueSource(strings = {"no.such.Plugin", "../etc/passwd", "..", "java.lang.String"})
  void a_plugin_that_cannot_be_loaded_fails_its_task(String name) throws Exception {
    QueueTask task = bench.run(name, json("{'a':1}"));

    assertThat(task.status()).isEqualTo(Status.FAILED);
    assertThat(bench.text(task.output().stderr())).contains(name);
  }

  @Test
  void what_a_task_leaves_behind_is_ended_with_it() throws Exception {
    QueueTask task = bench.run("shell", shell("sleep 1000 & echo $!"));

    long pid = Long.parseLong(bench.text(task.output().stdout()).strip());
    ProcessHandle.of(pid).ifPresent(left -> left.onExit().join());
    assertThat(task.status()).isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void a_run_that_is_not_ours_any_more_is_dropped_before_it_starts() throws Exception {
    TaskRun run = bench.begin("shell", shell("touch " + bench.root().resolve("ran")));
    bench.queues.runs().giveBack(run.assignment().run());

    run.carryOut();

    assertThat(bench.root().resolve("ran")).doesNotExist();
    assertThat(bench.task(run.assignment().task()).status()).isEqualTo(Status.QUEUED);
  }
}
