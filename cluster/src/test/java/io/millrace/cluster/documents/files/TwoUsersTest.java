package io.millrace.cluster.documents.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes of two users that share a folder, which is set up as docs/cluster.md describes. */
@Timeout(120)
final class TwoUsersTest {
  private static final int STEPS = 200;

  /** Ids that no user and no group has, which the system accepts. */
  private static final int GROUP = 54_321;

  private static final int ONE = 54_001;
  private static final int OTHER = 54_002;

  @TempDir private Path root;

  @Test
  void users_of_a_common_group_share_a_folder() throws Exception {
    assumeTrue(
        "root".equals(System.getProperty("user.name")),
        "only root may start processes of other users");
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/setpriv")), "setpriv starts processes of other users");
    run("chmod", "755", root.toString());
    String classes = readableByAll();
    Path folder = Files.createDirectory(root.resolve("documents"));
    run("chgrp", Integer.toString(GROUP), folder.toString());
    run("chmod", "g+ws", folder.toString());
    List<Counter> counters = new ArrayList<>();
    try {
      counters.add(Counter.start(as(ONE), classes, folder, "one"));
      counters.add(Counter.start(as(OTHER), classes, folder, "other"));
      for (Counter counter : counters) {
        counter.follow(STEPS);
      }
    } finally {
      counters.forEach(Counter::kill);
    }
    for (Counter counter : counters) {
      counter.follow(Integer.MAX_VALUE);
      assertThat(counter.said()).isGreaterThanOrEqualTo(STEPS);
    }
    Counter.check(folder, counters);
    assertThat(owners(folder)).contains(ONE, OTHER);
  }

  private static List<String> as(int user) {
    return List.of(
        "/usr/bin/setpriv",
        "--reuid=" + user,
        "--regid=" + user,
        "--groups=" + GROUP,
        "sh",
        "-c",
        "umask 002; exec \"$@\"",
        "sh");
  }

  /** A copy of the class path, which may be readable by root only. */
  private String readableByAll() throws IOException, InterruptedException {
    Path copies = Files.createDirectory(root.resolve("classes"));
    List<String> entries = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (Files.exists(Path.of(entry))) {
        Path copy = copies.resolve(entries.size() + "-" + Path.of(entry).getFileName());
        run("cp", "-r", entry, copy.toString());
        entries.add(copy.toString());
      }
    }
    run("chmod", "-R", "a+rX", copies.toString());
    return String.join(File.pathSeparator, entries);
  }

  private static void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).inheritIO().start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(String.join(" ", command)).isZero();
  }

  private static Set<Integer> owners(Path folder) throws IOException {
    Set<Integer> owners = new HashSet<>();
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.toList()) {
        owners.add((Integer) Files.getAttribute(path, "unix:uid"));
      }
    }
    return owners;
  }
}
