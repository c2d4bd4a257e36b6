package io.millrace.cli.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.client.jobs.JobFailedException;
import io.millrace.client.jobs.JobHandler;
import io.millrace.client.jobs.JobResult;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

@Timeout(120)
class JobCommandsTest {
  private static final JobHandler ECHO = (payload, _) -> JobResult.of(payload);

  @TempDir private Path scratch = Path.of("");
  private JobFixture site;

  @BeforeEach
  void open() {
    site = new JobFixture(scratch.resolve("data"));
  }

  @AfterEach
  void close() {
    site.close();
  }

  private String file(String name, String text) throws IOException {
    return Files.writeString(scratch.resolve(name), text).toString();
  }

  private Shell.CommandResult done(String... command) {
    Shell.CommandResult ran = site.run(command);
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran;
  }

  @Test
  void a_job_is_submitted_done_and_its_result_fetched() throws Exception {
    String file = file("in.txt", "hällo");
    Shell.CommandResult submitted =
        done("jobs", "submit", file, "-k", "wörk 1", "-p", "immediate", "--description", "a ✓");
    assertThat(submitted.out()).isEqualTo("wörk 1\n");
    JsonNode job = site.shown("jobs", "show", "wörk 1").path(0);
    assertThat(job.path("display").asString()).isEqualTo("a ✓");
    assertThat(job.path("priority").asString()).isEqualTo("immediate");
    assertThat(site.run("jobs", "result", "wörk 1").code()).isEqualTo(4);

    site.worker(site.options("w"), ECHO);
    assertThat(done("jobs", "wait", "wörk 1", "--timeout", "60s").out())
        .isEqualTo("wörk 1  done\n");
    assertThat(done("jobs", "result", "wörk 1").out()).isEqualTo("hällo");
    Path out = scratch.resolve("out");
    done("jobs", "result", job.path("id").asString(), "-o", out.toString());
    assertThat(out).hasContent("hällo");
    assertThat(done("jobs", "list").out()).contains("wörk 1", "done", "immediate", "a ✓");
    assertThat(done("workers").out()).contains("SUCCEEDED", "w");
    assertThat(site.shown("workers", "w").path("name").asString()).isEqualTo("w");
    assertThat(done("jobs", "delete", "wörk 1").out()).isEqualTo("wörk 1  deleted\n");
    assertThat(done("jobs", "list", "--keys").out()).isEmpty();
  }

  @Test
  void settings_of_jobs_are_set_and_taken_back_while_the_server_runs() {
    assertThat(done("jobs", "types", "-", "running=5", "starts=9/1m").out())
        .isEqualTo("-: running=5 starts=9/1m\n");
    assertThat(done("jobs", "types", "-", "starts=").out()).isEqualTo("-: running=5\n");
    assertThat(done("jobs", "types", "-").out()).isEqualTo("running=5\n");
    assertThat(done("jobs", "types", "-", "--default").out()).isEqualTo("-: \n");
    done("jobs", "types");
    expect(3, "speed", "jobs", "types", "-", "speed=1");
    expect(2, "SETTING=VALUE", "jobs", "types", "-", "running");
    expect(2, "TYPE", "jobs", "types", "--default");
  }

  @Test
  void a_job_that_is_there_already_is_waited_for_instead_of_a_second_one() throws Exception {
    String file = file("in.json", "{\"user\": \"a\", \"n\": 1}");
    String other = file("other.json", "{\"user\": \"a\", \"n\": 2}");
    String first = done("jobs", "submit", file, "--unique", "k").out();
    Shell.CommandResult again =
        done("jobs", "submit", other, "--unique", "k", "--unique-scope", "queued");
    assertThat(again.out()).isEqualTo(first);
    assertThat(again.err()).contains("1 of 1 jobs were there already");
    String[] submit = {
      "jobs", "submit", file, other, "--unique-fields", "user", "--unique-period", "1h", "--wait"
    };
    site.worker(site.options("w"), ECHO);
    assertThat(done(submit).err()).contains("1 of 2 jobs were there already");
    assertThat(site.shown("jobs", "list")).hasSize(2);
    expect(2, "unique_scope must be", "jobs", "submit", file, "--unique-scope", "forever");
    expect(3, "JSON object", "jobs", "submit", file("x", "x"), "--unique-fields", "user");
  }

  @Test
  void standard_input_becomes_a_payload_and_the_result_standard_output() throws Exception {
    site.worker(site.options("w"), ECHO);
    Shell.CommandResult ran = site.runReading("piped", "jobs", "submit", "-", "--output", "-");
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).isEqualTo("piped");
    Shell.CommandResult empty = site.runReading("", "jobs", "submit", "-", "-o", "-");
    assertThat(empty.code()).as(empty.err()).isZero();
    assertThat(empty.out()).isEmpty();
  }

  @Test
  void a_large_result_appears_only_whole_and_replaces_what_was_there() throws Exception {
    byte[] large = new byte[5_000_001];
    for (int i = 0; i < large.length; i++) {
      large[i] = (byte) (i * 31);
    }
    Path in = Files.write(scratch.resolve("in"), large);
    Path out = Files.writeString(scratch.resolve("out"), "old");
    site.worker(site.options("w"), ECHO);
    done("jobs", "submit", in.toString(), "-o", out.toString(), "-q");
    assertThat(out).hasBinaryContent(large);
    try (Stream<Path> files = Files.list(scratch)) {
      assertThat(files).noneMatch(path -> path.toString().endsWith(".unfinished"));
    }
  }

  @Test
  void several_files_are_submitted_and_waited_for() throws Exception {
    site.worker(
        site.options("w").withConcurrency(2),
        (payload, _) -> {
          String text = new String(payload.readAllBytes(), StandardCharsets.UTF_8);
          if (text.equals("bad")) {
            throw new JobFailedException("it is bad", "line 1\nline 2");
          }
          return JobResult.of(text);
        });
    Shell.CommandResult ran =
        site.run("jobs", "submit", file("a", "good"), file("b", "bad"), "-w", "--timeout", "12s");
    // A single worker gets a failed job never again, so that it goes on waiting.
    assertThat(ran.code()).isEqualTo(7);
    assertThat(ran.out()).contains("  done");
    assertThat(ran.err()).contains("1 not ended");
    String failed = site.shown("jobs", "list", "-s", "pending").path(0).path("id").asString();
    assertThat(done("jobs", "show", failed).out()).contains("it is bad", "  line 2");
    assertThat(done("jobs", "cancel", failed).out()).isEqualTo(failed + "  failed\n");
    assertThat(site.run("jobs", "wait", failed).code()).isEqualTo(6);
    assertThat(site.runReading(failed + "\n", "jobs", "wait", "-").err()).contains("failed: ");
    assertThat(done("jobs", "retry", failed).out()).contains("pending");
    assertThat(done("jobs", "batches").out()).contains("CAPACITY");
    assertThat(site.shown("jobs", "batches", "--newest", "--no-full")).hasSize(1);
    assertThat(site.shown("jobs", "batches", "--full")).isEmpty();
    expect(2, "filters cannot be combined", "jobs", "batches", "1", "--full");
    assertThat(site.shown("jobs", "batches", "1").path(0).path("size").asInt()).isEqualTo(2);
  }

  @Test
  void what_is_wrong_is_said_in_one_line_with_its_exit_code() throws Exception {
    String file = file("a", "a");
    done("jobs", "submit", file, "-k", "taken");
    expect(2, "there is no file", "jobs", "submit", "nope");
    expect(2, "is a folder", "jobs", "submit", scratch.toString());
    expect(2, "--priority is immediate or batch", "jobs", "submit", file, "-p", "urgent");
    expect(2, "--key names one job", "jobs", "submit", file, file, "-k", "k");
    expect(2, "several files", "jobs", "submit", file, file, "-o", "x");
    expect(2, "more than once", "jobs", "submit", "-", "-");
    expect(2, "no folder", "jobs", "submit", file, "-o", "/nope/x");
    expect(2, "not a file", "jobs", "result", "taken", "-o", scratch.toString());
    expect(3, "there is a job already with the key taken", "jobs", "submit", file, "-k", "taken");
    expect(3, "no job types", "jobs", "submit", file, "-t", "t");
    expect(3, "the parameter status must be", "jobs", "list", "-s", "lost");
    expect(3, "names no job", "jobs", "list", "--after", "nope");
    expect(3, "pending", "jobs", "retry", "taken");
    expect(4, "nope", "jobs", "show", "nope");
    expect(4, "nope", "jobs", "wait", "nope");
    expect(4, "nope", "jobs", "cancel", "nope");
    expect(4, "has no result: it is pending", "jobs", "result", "taken");
    expect(4, "7", "jobs", "batches", "7");
    expect(4, "nope", "workers", "nope");
    assertThat(site.run("jobs", "wait", "taken", "--timeout", "0s").code()).isEqualTo(7);
  }

  private void expect(int code, String message, String... command) {
    Shell.CommandResult ran = site.run(command);
    assertThat(ran.err()).startsWith("millrace: ").contains(message).hasLineCount(1);
    assertThat(ran.code()).as(ran.err()).isEqualTo(code);
  }

  @Test
  void a_list_longer_than_a_page_is_printed_whole() throws Exception {
    String file = file("a", "a");
    String[] submit = new String[503];
    Arrays.fill(submit, file);
    submit[0] = "jobs";
    submit[1] = "submit";
    assertThat(done(submit).out().lines()).hasSize(501).doesNotHaveDuplicates();
    assertThat(site.shown("jobs", "list")).hasSize(501);
    assertThat(done("jobs", "list", "--keys", "-n", "500").out().lines()).hasSize(500);
    assertThat(site.shown("jobs", "list", "--status", "done")).isEmpty();
  }

  @Test
  void a_server_with_key_types_and_prefix_is_served() throws Exception {
    Path key = Files.writeString(scratch.resolve("key"), "s3cret\n");
    Path wrong = Files.writeString(scratch.resolve("wrong"), "other");
    String file = file("a", "a");
    try (JobFixture closed =
        new JobFixture(
            scratch.resolve("other"),
            "jobs.api-key",
            "s3cret",
            "jobs.path-prefix",
            "/gridlike",
            "jobs.types.decode.description",
            "d")) {
      Shell.CommandResult without = closed.run("jobs", "submit", file, "-t", "decode");
      assertThat(without.code()).isEqualTo(1);
      assertThat(without.err()).contains("X-API-KEY", "--api-key-file").hasLineCount(2);
      assertThat(closed.run("jobs", "list", "--api-key-file", wrong.toString()).code())
          .isEqualTo(1);
      Shell.CommandResult ran =
          Shell.run(
              "jobs",
              "submit",
              file,
              "--type",
              "decode",
              "--api-key-file",
              key.toString(),
              "--server",
              closed.address() + "/gridlike");
      assertThat(ran.code()).as(ran.err()).isZero();
      expectIn(closed, key, "only decode", "jobs", "submit", file, "-t", "nope");
      expectIn(closed, key, "decode", "jobs", "submit", file);
    }
  }

  private static void expectIn(JobFixture site, Path key, String message, String... command) {
    Shell.CommandResult ran =
        site.run(
            Stream.concat(Stream.of(command), Stream.of("--api-key-file", key.toString()))
                .toArray(String[]::new));
    assertThat(ran.err()).contains(message).hasLineCount(1);
    assertThat(ran.code()).isEqualTo(3);
  }
}
