package io.millrace.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.server.MillraceServer;
import io.millrace.server.ServerSettings;
import io.millrace.server.jobs.JobsSettings;
import io.millrace.server.store.StoreSettings;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreOptions.Upkeep;
import io.millrace.store.journal.Retention;
import io.millrace.work.policy.Policy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The configuration: file, flags, defaults, and what is said about mistakes. */
final class ConfigurationTest {
  @TempDir private Path folder;

  private Configuration read(String yaml, Map<String, String> flags) throws IOException {
    Path file = folder.resolve("millrace.yaml");
    Files.writeString(file, yaml);
    return Configuration.read(MillraceServer.SECTIONS, file, flags);
  }

  @Test
  void without_file_and_flags_the_documented_defaults_count() {
    Configuration defaults = Configuration.defaults(MillraceServer.SECTIONS);
    ServerSettings server = defaults.get(ServerSettings.SECTION);
    assertThat(server.address()).isEqualTo("127.0.0.1");
    assertThat(server.port()).isEqualTo(8048);
    assertThat(server.tokenFile()).isNull();
    assertThat(defaults.get(StoreSettings.SECTION).options().folder())
        .isEqualTo(Path.of("./millrace-data"));
    assertThat(defaults.get(StoreSettings.SECTION).options().journaling())
        .isEqualTo(Journaling.STRICT);
  }

  @Test
  void a_file_sets_keys_and_a_flag_goes_before_it() throws IOException {
    Configuration read =
        read(
            """
            # a comment
            server:
              port: 9000
              max-body-bytes: 2MiB
              stop-grace: 1.5s
            store:
              journal: opportunistic
              snapshot-every: 10
              journal-keep-bytes: 2GiB
              journal-keep-time: 48h
            """,
            Map.of("server.port", "9001"));
    ServerSettings server = read.get(ServerSettings.SECTION);
    assertThat(server.port()).isEqualTo(9001);
    assertThat(server.http().maxBodyBytes()).isEqualTo(2 << 20);
    assertThat(server.http().stopGrace()).isEqualTo(Duration.ofMillis(1500));
    assertThat(read.get(StoreSettings.SECTION).options().journaling())
        .isEqualTo(Journaling.OPPORTUNISTIC);
    assertThat(read.get(StoreSettings.SECTION).options().upkeep())
        .isEqualTo(
            new Upkeep(10, Duration.ofSeconds(10), new Retention(2L << 30, Duration.ofDays(2))));
  }

  @Test
  void an_empty_file_and_empty_sections_say_nothing() throws IOException {
    assertThat(read("", Map.of()).get(ServerSettings.SECTION).port()).isEqualTo(8048);
    assertThat(read("server:\n", Map.of()).get(ServerSettings.SECTION).port()).isEqualTo(8048);
    assertThat(read("jobs:\n  types:\n  batch-size:\n", Map.of()).get(JobsSettings.SECTION).types())
        .isEmpty();
  }

  @Test
  void an_unknown_key_is_refused_without_a_value_too() {
    assertThatThrownBy(() -> read("jobs:\n  batchsize:\n", Map.of()))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("line 2: there is no key jobs.batchsize")
        .hasMessageContaining("did you mean jobs.batch-size?");
    assertThatThrownBy(() -> read("jbos:\n", Map.of())).hasMessageContaining("no key jbos");
    assertThatThrownBy(() -> read("jobs:\n  types:\n    a/b:\n", Map.of()))
        .hasMessageContaining("there is no key jobs.types.a/b");
  }

  @Test
  void an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
    assertThatThrownBy(() -> read("server:\n  address: 127.0.0.1\n  prot: 1\n", Map.of()))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("line 3")
        .hasMessageContaining("server.prot")
        .hasMessageContaining("did you mean server.port?");
    assertThatThrownBy(() -> read("", Map.of("store.jurnal", "strict")))
        .hasMessageStartingWith("--set store.jurnal: ")
        .hasMessageContaining("store.journal");
    assertThatThrownBy(() -> read("", Map.of("store.journal-keep-byte", "1GiB")))
        .hasMessageContaining("did you mean store.journal-keep-bytes?");
    assertThatThrownBy(() -> read("sever:\n  port: 1\n", Map.of()))
        .hasMessageContaining("did you mean server.port?");
    assertThatThrownBy(() -> read("", Map.of("foo", "1"))).hasMessageEndingWith("no key foo");
  }

  @ParameterizedTest
  @CsvSource({
    "server.port, x",
    "server.port, 65536",
    "server.port, -1",
    "server.port, 80.5",
    "store.journal, STRICT",
    "store.journal, loose",
    "server.max-body-bytes, 1KiBB",
    "server.max-body-bytes, 9223372036854775807GiB",
    "server.idle-timeout, 5",
    "server.idle-timeout, -5s",
    "server.stop-grace, 9999999999999999h",
    "store.snapshot-every, 0"
  })
  void a_value_of_the_wrong_form_or_range_is_named(String key, String value) {
    assertThatThrownBy(() -> read("", Map.of(key, value)))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining(key)
        .hasMessageContaining(value);
  }

  @Test
  void what_is_no_yaml_of_keys_is_said_with_its_line() {
    assertThatThrownBy(() -> read("server:\n  port: 1\n port: 2\n", Map.of()))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("line");
    assertThatThrownBy(() -> read("- 1\n", Map.of())).isInstanceOf(ConfigurationException.class);
    assertThatThrownBy(() -> read("server:\n  port: [1]\n", Map.of()))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("server.port");
    assertThatThrownBy(() -> read("server:\n  port: 1\n  port: 2\n", Map.of()))
        .isInstanceOf(ConfigurationException.class);
    assertThatThrownBy(() -> read("server: 5\n", Map.of()))
        .isInstanceOf(ConfigurationException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"a b", "/x?y", "//", "/a//b", "/../x", "a/.", "/%61", "/ä", "/a#b", "/{x}"})
  void a_path_prefix_that_no_path_can_begin_with_is_refused(String prefix) {
    assertThatThrownBy(() -> read("", Map.of("jobs.path-prefix", prefix)))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageStartingWith("--set jobs.path-prefix: jobs.path-prefix must be a path as in")
        .hasMessageEndingWith("not \"" + prefix + "\"");
  }

  @ParameterizedTest
  @CsvSource({"/grid,/grid", "grid/,/grid", "/a/b.c/,/a/b.c", "/...,/...", "/,''", "'',''"})
  void a_path_prefix_is_taken_with_and_without_slashes_at_its_ends(String given, String prefix)
      throws IOException {
    JobsSettings jobs = read("", Map.of("jobs.path-prefix", given)).get(JobsSettings.SECTION);
    assertThat(jobs.access().prefix()).isEqualTo(prefix);
  }

  @Test
  void a_file_that_is_not_there_is_named() {
    assertThatThrownBy(() ->
            Configuration.read(MillraceServer.SECTIONS, folder.resolve("none.yaml"), Map.of()))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("none.yaml")
        .hasMessageNotContaining("Exception");
  }

  @Test
  void keys_may_hold_a_name_of_the_users_own() throws IOException {
    JobsSettings jobs =
        read(
                """
                jobs:
                  worker:
                    kick-after-ms: 700
                  types:
                    decode.v2:
                      result-becomes: resize
                    resize:
                """,
                Map.of("jobs.types.decode.v2.description", "Reads"))
            .get(JobsSettings.SECTION);
    assertThat(jobs.workers().kickAfter()).isEqualTo(Duration.ofMillis(700));
    assertThat(jobs.types())
        .containsExactlyInAnyOrder(
            new JobType("decode.v2", "Reads", "resize"), new JobType("resize", null, null));
  }

  @Test
  void jobs_of_types_without_settings_have_those_of_the_server() throws IOException {
    JobTypes types =
        read(
                "",
                Map.of(
                    "jobs.settings", "attempts=5 retry_delay=10s",
                    "jobs.types.mail.settings", "attempts=2",
                    "jobs.types.plain.description", "x"))
            .get(JobsSettings.SECTION)
            .jobTypes(_ -> true);
    assertThat(types.policy("plain")).isEqualTo(Policy.parse("attempts=5 retry_delay=10s"));
    assertThat(types.policy("mail")).isEqualTo(Policy.parse("attempts=2 retry_delay=10s"));
    assertThat(
            read("", Map.of("jobs.settings", "snoozes=3"))
                .get(JobsSettings.SECTION)
                .jobTypes(_ -> true)
                .policy(""))
        .isEqualTo(Policy.parse("snoozes=3"));
  }

  @ParameterizedTest
  @CsvSource({
    "jobs.settings, attempts=none, attempts must be",
    "jobs.settings, keep_finished=1d, jobs.keep-finished",
    "jobs.settings, tries=3, no field tries",
    "jobs.types.a.settings, attempts, field=value",
  })
  void wrong_settings_of_jobs_are_refused(String key, String text, String problem) {
    assertThatThrownBy(() -> read("", Map.of(key, text)))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining(key)
        .hasMessageContaining(problem);
  }

  @Test
  void a_mistyped_key_with_a_name_in_it_is_told_with_the_nearest_one() {
    assertThatThrownBy(() -> read("jobs:\n  types:\n    a:\n      descripton: x\n", Map.of()))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("jobs.types.a.descripton")
        .hasMessageContaining("did you mean jobs.types.a.description?");
  }

  @ParameterizedTest
  @CsvSource({
    "jobs.api-key, jobs.api-key-file",
    "jobs.worker.token, jobs.worker.token-file",
  })
  void a_secret_on_the_command_line_is_warned_about(String key, String file) throws IOException {
    assertThat(read("", Map.of(key, "hush")).warnings())
        .containsExactly(
            "--set %s: every user of this machine can read this secret in the list of processes; %s"
                    .formatted(key, file)
                + " reads it from a file");
    assertThat(read(key + ": hush", Map.of()).warnings()).isEmpty();
    assertThat(read("", Map.of("jobs.lease", "30s")).warnings()).isEmpty();
  }

  @Test
  void secrets_of_jobs_are_read_from_files() throws IOException {
    Path key = Files.writeString(folder.resolve("key"), "open-sesame\n");
    Path token = Files.writeString(folder.resolve("token"), "let-me-work\n");
    Configuration read =
        read(
            "",
            Map.of(
                "jobs.api-key-file", key.toString(), "jobs.worker.token-file", token.toString()));
    assertThat(read.warnings()).isEmpty();
    JobsSettings jobs = read.get(JobsSettings.SECTION);
    assertThat(jobs.access().apiKey()).isNotNull().matches(secret -> secret.is("open-sesame"));
    assertThat(jobs.workers().token()).isNotNull().matches(secret -> secret.is("let-me-work"));
  }

  @Test
  void a_secret_that_is_given_twice_or_whose_file_is_none_is_refused() throws IOException {
    Path file = Files.writeString(folder.resolve("key"), "open-sesame");
    Map<String, String> both = Map.of("jobs.api-key", "a", "jobs.api-key-file", file.toString());
    assertThatThrownBy(() -> read("", both))
        .isInstanceOf(ConfigurationException.class)
        .hasMessage("jobs.api-key and jobs.api-key-file are both given; leave one of them out");
    String none = folder.resolve("none").toString();
    assertThatThrownBy(() -> read("", Map.of("jobs.worker.token-file", none)))
        .hasMessageContaining("cannot read the token file " + none);
  }
}
