package io.millrace.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The leader of three members that run its lambdas is killed with signal 9. */
final class ListingKillTest {
  @TempDir private Path root = Path.of("");

  @Test
  void every_file_is_hashed_by_lambdas_of_one_leader_or_the_next() throws IOException {
    Path secret = Files.writeString(root.resolve("secret"), "a secret that nobody can guess\n");
    try (ClusterFixture site =
        new ClusterFixture(
            root, "file:" + root.resolve("documents"), "--secret-file", secret.toString())) {
      OutputLines lines = new OutputLines(site.output());
      site.addFiles(60);
      site.startFirst("listing");
      site.start();
      site.start();
      Await.until("lambdas run on all members", () -> workers(site, lines).size() == 3);
      String leader = site.status().path("leader").asString(site.tokens().getFirst());
      site.kill(leader);
      site.addFiles(10);
      Await.until("all files are done", () -> lines.names().size() == site.files());
      Await.until("all partitions are removed", () -> site.status().path("partitions").isEmpty());
      lines.check(site);
      assertThat(Files.readString(root.resolve("member-0.log"))).doesNotContain("nobody can guess");
    }
  }

  /** The members that have written a line. Adds files if none is left: members may start late. */
  private static Set<String> workers(ClusterFixture site, OutputLines lines) throws IOException {
    if (lines.names().size() == site.files()) {
      site.addFiles(10);
    }
    return lines.read().stream().map(OutputLines.Line::token).collect(Collectors.toSet());
  }
}
