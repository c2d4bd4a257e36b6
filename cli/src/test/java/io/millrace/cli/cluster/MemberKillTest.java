package io.millrace.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.queues.Program;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Five members that are killed with signal 9, stopped for longer than the lease and continued. */
final class MemberKillTest {
  private static final int MEMBERS = 5;
  private static final int MOST_STOPS = 30;

  @TempDir private Path root = Path.of("");

  @Test
  void on_flat_files_every_file_is_hashed_and_late_lines_are_refused()
      throws IOException, InterruptedException {
    run("file:" + root.resolve("documents"));
  }

  @Test
  void on_the_store_every_file_is_hashed_and_late_lines_are_refused()
      throws IOException, InterruptedException {
    Program.Ready server =
        Program.startReady(
            root.resolve("server.log"),
            List.of("up", "--no-node", "--data", root.resolve("server").toString(), "--port", "0"));
    String greeting = server.line();
    int from = greeting.indexOf("http://");
    try {
      run("store:" + greeting.substring(from, greeting.indexOf(' ', from)));
    } finally {
      server.program().kill();
    }
  }

  private void run(String documents) throws IOException, InterruptedException {
    try (ClusterSite site = new ClusterSite(root, documents)) {
      Lines lines = new Lines(site.output());
      site.addFiles(40);
      site.startFirst("files");
      for (int i = 1; i < MEMBERS; i++) {
        site.start();
      }
      Patience.until("all are members", () -> site.status().path("members").size() == MEMBERS);
      kill(site, lines);
      for (int i = 0; i < MOST_STOPS && site.refused() == 0; i++) {
        stopOne(site);
      }
      assertThat(site.refused()).as("late lines that were refused").isPositive();
      Patience.until("all files are done", () -> lines.names().size() == site.files());
      Patience.until(
          "all partitions are removed", () -> site.status().path("partitions").isEmpty());
      lines.check(site);
    }
  }

  /** Kills the leader and another one while there is work, and has new ones take their places. */
  private static void kill(ClusterSite site, Lines lines) throws IOException {
    for (int i = 0; i < 2; i++) {
      int before = lines.names().size();
      site.addFiles(20);
      Patience.until("work goes on", () -> lines.names().size() > before);
      String victim = site.status().path("leader").asString(site.tokens().getFirst());
      site.kill(victim);
      site.start();
      Patience.until(
          "another one leads", () -> !site.status().path("leader").asString(victim).equals(victim));
      Patience.until("the dead one is out of the list", () -> !isListed(site, victim));
    }
  }

  private static boolean isListed(ClusterSite site, String token) {
    for (JsonNode member : site.status().path("members")) {
      if (member.path("token").asString().equals(token)) {
        return true;
      }
    }
    return false;
  }

  /** Stops a member inside its guard until others are done with what it had, and continues it. */
  private static void stopOne(ClusterSite site) throws IOException, InterruptedException {
    site.addFiles(10);
    String victim = stopAWorker(site);
    Set<String> its = held(site, victim);
    Patience.until("others do what it had", () -> listed(site).stream().noneMatch(its::contains));
    site.signal(victim, "CONT");
    int files = site.files();
    Patience.until(
        "what there was is done", () -> new Lines(site.output()).names().size() >= files);
  }

  /** Stops somebody who works on something, while it does. */
  private static String stopAWorker(ClusterSite site) throws IOException, InterruptedException {
    for (int i = 0; i < MOST_STOPS; i++) {
      Patience.until("somebody works", () -> worker(site).isPresent());
      String victim = worker(site).orElse(site.tokens().getFirst());
      site.signal(victim, "STOP");
      if (!held(site, victim).isEmpty()) {
        return victim;
      }
      // It was done in the meantime.
      site.signal(victim, "CONT");
      site.addFiles(5);
    }
    throw new AssertionError("nobody could be stopped while it worked");
  }

  private static Optional<String> worker(ClusterSite site) {
    return site.tokens().stream().filter(token -> !held(site, token).isEmpty()).findAny();
  }

  private static Set<String> held(ClusterSite site, String token) {
    return site.status()
        .path("partitions")
        .valueStream()
        .filter(partition -> partition.path("holder").asString("").equals(token))
        .filter(partition -> partition.path("expire").asLong() > 0)
        .map(partition -> partition.path("id").asString())
        .collect(Collectors.toSet());
  }

  private static Set<String> listed(ClusterSite site) {
    return site.status()
        .path("partitions")
        .valueStream()
        .map(partition -> partition.path("id").asString())
        .collect(Collectors.toSet());
  }
}
