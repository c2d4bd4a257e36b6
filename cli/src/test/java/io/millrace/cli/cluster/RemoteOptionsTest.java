package io.millrace.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cli.Shell;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.lambda.ClusterSecret;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.membership.ClusterConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members that cannot take part in remote work, and say why. */
final class RemoteOptionsTest {
  private static final String PROGRAM = "com.example.Program";

  @TempDir private Path root = Path.of("");

  @Test
  void remote_work_needs_a_secret() throws IOException {
    String folder = Files.createDirectory(root.resolve("in")).toString();
    String lines = root.resolve("lines").toString();
    for (String example : List.of("listing", "feed")) {
      refused(
          "give the secret of the cluster with --secret-file FILE",
          "--example",
          example,
          "--input",
          folder,
          "--output",
          lines);
    }
    refused("give the secret of the cluster with --secret-file FILE", "--program", PROGRAM);
    refused("--pace does not belong to --example feed", "--example", "feed", "--pace", "1s");
    nothingWasWritten();
  }

  @Test
  void a_secret_that_is_none_is_named() throws IOException {
    String none = root.resolve("none").toString();
    refused("there is no secret file " + none, "--secret-file", none);
    Path small = Files.writeString(root.resolve("small"), "too short\n");
    refused("secret has 16 to 1024 bytes, not 9", "--secret-file", small.toString());
    nothingWasWritten();
  }

  @Test
  void a_program_that_cannot_be_made_is_named() throws IOException {
    Path classes = Files.createDirectory(root.resolve("classes"));
    UserClasses.compile(
        classes,
        PROGRAM,
        """
        package com.example;
        public final class Program {}
        """);
    UserClasses.compile(
        classes,
        "com.example.Strict",
        """
        package com.example;
        public final class Strict implements io.millrace.cluster.remote.RemoteWork {
          public Strict(java.util.Map<String, String> settings) {
            throw new IllegalArgumentException("there is no setting 'greeting'");
          }
          @Override public void lead(io.millrace.cluster.remote.RemoteExecutor executor) {}
        }
        """);
    UserClasses.compile(
        classes,
        "com.example.Plain",
        """
        package com.example;
        public final class Plain implements io.millrace.cluster.remote.RemoteWork {
          @Override public void lead(io.millrace.cluster.remote.RemoteExecutor executor) {}
        }
        """);
    program(classes, "there is no class com.example.None on --classpath", "com.example.None");
    program(classes, "class com.example.Program does not implement io.millrace.cluster", PROGRAM);
    program(classes, "there is no setting 'greeting'", "com.example.Strict");
    program(
        classes,
        "class com.example.Plain has no public constructor that takes a Map of --set",
        "com.example.Plain",
        "--set",
        "greeting=hello");
    nothingWasWritten();
  }

  private void program(Path classes, String words, String name, String... more) throws IOException {
    List<String> options = new ArrayList<>(List.of("--secret-file", secret("the right secret")));
    options.addAll(List.of("--classpath", classes.toString(), "--program", name));
    options.addAll(Arrays.asList(more));
    refused(words, options.toArray(new String[0]));
  }

  @Test
  void options_of_programs_that_do_not_go_together_are_refused() throws IOException {
    String secret = secret("the right secret");
    String folder = Files.createDirectory(root.resolve("in")).toString();
    refused("--set belongs to --program CLASS", "--set", "a=b");
    refused("expected --set NAME=VALUE, not 'a'", "--program", PROGRAM, "--set", "a");
    refused("--set a is given twice", "--program", PROGRAM, "--set", "a=1", "--set", "a=2");
    refused("--classpath: '/none.jar' does not exist", "--classpath", folder + ":/none.jar");
    refused("--classpath: '' does not exist", "--classpath", folder + ":");
    refused(
        "give --example or --program, not both",
        "--secret-file",
        secret,
        "--program",
        PROGRAM,
        "--example",
        "feed",
        "--input",
        folder,
        "--output",
        folder + ".lines");
    nothingWasWritten();
  }

  @Test
  void a_member_without_the_secret_or_with_another_one_cannot_join() throws IOException {
    Map<String, String> plan =
        new TreeMap<>(Map.of("example", "feed", "input", "/in", "output", "/out"));
    try (VersionedDocuments documents = FileDocuments.open(root.resolve("documents"));
        RemoteCode remote = remote("the right secret")) {
      Plan signed = Plan.of(plan, Map.of(), remote);
      signed.check(remote);
      new ClusterConfig(LeaseTerms.DEFAULT, signed.values()).orExisting(documents);
    }
    refused("give the secret of the cluster with --secret-file FILE");
    refused(
        "not signed with the secret of --secret-file", "--secret-file", secret("another secret."));
  }

  @Test
  void a_plan_that_somebody_changed_without_the_secret_is_not_followed() throws IOException {
    try (RemoteCode remote = remote("the right secret")) {
      Plan signed = Plan.of(Map.of("program", PROGRAM, "set.folder", "/home"), Map.of(), remote);
      for (String name : List.of("program", "set.folder", "signature")) {
        Map<String, String> changed = new TreeMap<>(signed.values());
        changed.merge(name, "x", String::concat);
        assertRefused(remote, changed);
        changed.remove(name);
        if (!name.equals("program")) {
          assertRefused(remote, changed);
        }
      }
    }
  }

  private static void assertRefused(RemoteCode remote, Map<String, String> plan) {
    assertThatThrownBy(() -> new Plan(plan).check(remote))
        .hasMessageContaining("not signed with the secret");
  }

  private RemoteCode remote(String secret) throws IOException {
    return new RemoteCode(
        ClusterSecret.read(Path.of(secret(secret))), RemoteCode.ClassPath.open(List.of()));
  }

  private String secret(String text) throws IOException {
    return Files.writeString(root.resolve("secret"), text + " of so many bytes\n").toString();
  }

  private void nothingWasWritten() {
    try (VersionedDocuments documents = FileDocuments.open(root.resolve("documents"))) {
      assertThat(documents.list("")).isEmpty();
    }
  }

  private void refused(String words, String... options) {
    List<String> all =
        new ArrayList<>(List.of("member", "--documents", "file:" + root.resolve("documents")));
    all.addAll(Arrays.asList(options));
    Shell.CommandResult ran = Shell.run(all.toArray(new String[0]));
    assertThat(ran.code()).as(words).isEqualTo(2);
    assertThat(ran.err()).contains(words);
  }
}
