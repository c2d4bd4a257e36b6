package io.millrace.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.queues.Program;
import io.millrace.cluster.documents.elastic.SearchEngine;
import io.millrace.http.transport.Certificates;
import io.millrace.work.elastic.Credentials;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Members on a real Elasticsearch that requires encryption, with a user that has only the
 * permissions in docs/cluster.md.
 */
final class ElasticsearchMembersTest {
  private static @Nullable SearchEngine started;

  @TempDir private Path root = Path.of("");

  @BeforeAll
  static void start() {
    started = SearchEngine.securedElasticsearch();
  }

  @AfterAll
  static void stop() {
    if (started != null) {
      started.close();
    }
  }

  private static SearchEngine engine() {
    return Objects.requireNonNull(started);
  }

  @Test
  void every_file_is_hashed_and_late_lines_are_refused() throws IOException, InterruptedException {
    MemberKills.run(root, EngineFixture.empty(engine(), "millrace-"));
  }

  @Test
  void members_outlive_an_engine_that_is_killed() throws IOException {
    try (ClusterFixture site =
        new ClusterFixture(root, EngineFixture.empty(engine(), "millrace-"))) {
      OutputLines lines = new OutputLines(site.output());
      site.addFiles(100);
      site.startFirst("files");
      site.start();
      site.start();
      Await.until("work goes on", () -> !lines.read().isEmpty());
      engine().kill();
      int before = lines.read().size();
      assertThat(before).isLessThan(site.files());
      site.addFiles(10);
      engine().startAgain();
      Await.until("all files are done", () -> lines.names().size() == site.files());
      Await.until("all partitions are removed", () -> site.status().path("partitions").isEmpty());
      lines.check(site);
      for (String token : site.tokens()) {
        assertThat(site.member(token).isAlive()).isTrue();
        Await.until("it is a member", () -> MemberKills.isListed(site, token));
      }
    }
  }

  @Test
  void whoever_is_not_trusted_is_told_nothing_and_its_certificate_named()
      throws IOException, InterruptedException {
    Path other = new Certificates(root).make("other");
    String address = engine().address().toString();
    String distrust = "the certificate of " + address + " is not trusted: ";
    Map<String, String> user = engine().environment();
    assertThat(refused(status(address, other), user)).contains(distrust);
    assertThat(refused(List.of("--documents", "elasticsearch:" + address), user))
        .contains(distrust);
    String named = "https://localhost:" + URI.create(address).getPort();
    assertThat(refused(status(named, certificates()), user))
        .contains("the certificate of " + named + " is not trusted: ", "localhost");
  }

  @Test
  void users_and_api_keys_come_from_the_environment() throws IOException, InterruptedException {
    EngineFixture.empty(engine(), "millrace-");
    List<String> options = status(engine().address().toString(), certificates());
    int code = run(options, engine().environment());
    assertThat(code).as(words()).isZero();
    assertThat(refused(options, Map.of()))
        .contains("status 401", "missing authentication credentials");
    // This engine lacks what it would need to make keys, but looks at the one that comes.
    assertThat(refused(options, Map.of(Credentials.API_KEY, "aWQ6bm8ga2V5")))
        .contains("status 401", "unable to authenticate")
        .doesNotContain("missing authentication credentials");
  }

  private static Path certificates() {
    return engine().certificates().orElseThrow();
  }

  private static List<String> status(String address, Path certificates) {
    return List.of(
        "--documents", "elasticsearch:" + address, "--certificates", certificates.toString());
  }

  private String refused(List<String> options, Map<String, String> environment)
      throws IOException, InterruptedException {
    Files.deleteIfExists(root.resolve("words"));
    assertThat(run(options, environment)).isEqualTo(1);
    return words();
  }

  /** Shows the status in a process of its own, since only that has an environment of its own. */
  private int run(List<String> options, Map<String, String> environment)
      throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of("cluster", "status"));
    arguments.addAll(options);
    return Program.start(root.resolve("words"), environment, arguments).ended();
  }

  private String words() throws IOException {
    return Files.readString(root.resolve("words"));
  }
}
