package io.millrace.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Five members that are killed with signal 9, stopped for longer than the lease and continued. */
final class MemberKills {
  private static final int MEMBERS = 5;
  private static final int MAX_STOPS = 200;

  private MemberKills() {}

  /** Runs it in an empty folder. */
  static void run(Path root, DocumentsFixture documents) throws IOException, InterruptedException {
    try (ClusterFixture site = new ClusterFixture(root, documents)) {
      OutputLines lines = new OutputLines(site.output());
      site.addFiles(40);
      site.startFirst("files");
      for (int i = 1; i < MEMBERS; i++) {
        site.start();
      }
      Await.until("all are members", () -> site.status().path("members").size() == MEMBERS);
      kill(site, lines);
      for (int i = 0; i < MAX_STOPS && site.refused() == 0; i++) {
        stopOne(site);
      }
      assertThat(site.refused()).as("late lines that were refused").isPositive();
      Await.until("all files are done", () -> lines.names().size() == site.files());
      Await.until("all partitions are removed", () -> site.status().path("partitions").isEmpty());
      lines.check(site);
    }
  }

  /** Kills the leader and another one while there is work, and has new ones take their places. */
  private static void kill(ClusterFixture site, OutputLines lines) throws IOException {
    for (int i = 0; i < 2; i++) {
      int before = lines.names().size();
      site.addFiles(20);
      Await.until("work goes on", () -> lines.names().size() > before);
      String victim = site.status().path("leader").asString(site.tokens().getFirst());
      site.kill(victim);
      site.start();
      Await.until(
          "another one leads", () -> !site.status().path("leader").asString(victim).equals(victim));
      Await.until("the dead one is out of the list", () -> !isListed(site, victim));
    }
  }

  static boolean isListed(ClusterFixture site, String token) throws IOException {
    for (JsonNode member : site.status().path("members")) {
      if (member.path("token").asString().equals(token)) {
        return true;
      }
    }
    return false;
  }

  /** Stops a member inside its guard, and continues it after others have finished its work. */
  private static void stopOne(ClusterFixture site) throws IOException, InterruptedException {
    site.addFiles(10);
    String victim = stopAWorker(site);
    Set<String> its = held(site, victim);
    Await.until("others do what it had", () -> listed(site).stream().noneMatch(its::contains));
    site.signal(victim, "CONT");
    int files = site.files();
    Await.until(
        "what there was is done", () -> new OutputLines(site.output()).names().size() >= files);
  }

  /** Stops a member while it is working. */
  private static String stopAWorker(ClusterFixture site) throws IOException, InterruptedException {
    for (int i = 0; i < MAX_STOPS; i++) {
      String victim = worker(site);
      site.signal(victim, "STOP");
      if (!held(site, victim).isEmpty() && isWritable(site)) {
        return victim;
      }
      // It was done in the meantime, or was just writing.
      site.signal(victim, "CONT");
    }
    throw new AssertionError("nobody could be stopped while it worked");
  }

  /**
   * Whether others can write lines. A member that is stopped while it writes one has the output
   * locked.
   */
  private static boolean isWritable(ClusterFixture site) throws IOException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
    while (System.nanoTime() - end < 0) {
      try (FileChannel output =
              FileChannel.open(site.output(), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock lock = output.tryLock()) {
        if (lock != null) {
          return true;
        }
      }
      LockSupport.parkNanos(5_000_000);
    }
    return false;
  }

  /** Waits until a member works. Adds work if there is none. */
  private static String worker(ClusterFixture site) throws IOException {
    AtomicReference<String> found = new AtomicReference<>();
    Await.until(
        "somebody works",
        () -> {
          JsonNode status = site.status();
          site.tokens().stream()
              .filter(token -> !held(status, token).isEmpty())
              .findAny()
              .ifPresent(found::set);
          if (found.get() == null
              && new OutputLines(site.output()).names().size() == site.files()) {
            site.addFiles(5);
          }
          return found.get() != null;
        });
    return found.get();
  }

  private static Set<String> held(ClusterFixture site, String token) throws IOException {
    return held(site.status(), token);
  }

  private static Set<String> held(JsonNode status, String token) {
    return status
        .path("partitions")
        .valueStream()
        .filter(partition -> partition.path("holder").asString("").equals(token))
        .filter(partition -> partition.path("expire").asLong() > 0)
        .map(partition -> partition.path("id").asString())
        .collect(Collectors.toSet());
  }

  private static Set<String> listed(ClusterFixture site) throws IOException {
    return site.status()
        .path("partitions")
        .valueStream()
        .map(partition -> partition.path("id").asString())
        .collect(Collectors.toSet());
  }
}
