package io.millrace.cli.cluster;

import io.millrace.cli.queues.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Cluster members as processes that hash files. Each of them can be killed or stopped. */
final class ClusterFixture implements AutoCloseable {
  private final Path root;
  private final DocumentsFixture documents;
  private final List<String> common;
  private final Map<String, Program> members = new LinkedHashMap<>();
  private int files;
  private int started;

  /**
   * A cluster without members.
   *
   * @param documents an address of which nothing more need be said
   * @param common options that each member is given, besides the documents
   */
  ClusterFixture(Path root, String documents, String... common) throws IOException {
    this(root, DocumentsFixture.at(documents), common);
  }

  /** The same with documents anywhere. */
  ClusterFixture(Path root, DocumentsFixture documents, String... common) throws IOException {
    this.root = root;
    this.documents = documents;
    this.common = List.of(common);
    Files.createDirectories(input());
  }

  private Path input() {
    return root.resolve("input");
  }

  Path output() {
    return root.resolve("lines");
  }

  /** How many files there are. */
  int files() {
    return files;
  }

  String content(String name) {
    return "content of " + name;
  }

  void addFiles(int more) throws IOException {
    for (int i = 0; i < more; i++) {
      String name = "file-" + files++;
      Path hidden = root.resolve(name + ".new");
      Files.writeString(hidden, content(name));
      Files.move(hidden, input().resolve(name));
    }
  }

  /** Starts the first member, which determines the work of the cluster. */
  String startFirst(String example) throws IOException {
    return start(
        List.of(
            "--lease",
            documents.lease(),
            "--example",
            example,
            "--input",
            input().toString(),
            "--output",
            output().toString(),
            "--pace",
            documents.pace()));
  }

  /** Starts a member that is not told what the cluster is for. */
  String start() throws IOException {
    return start(List.of());
  }

  private String start(List<String> more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("member"));
    arguments.addAll(documents.options());
    arguments.addAll(List.of("--workers", "2"));
    arguments.addAll(common);
    arguments.addAll(more);
    Program.Ready ready = Program.startReady(log(started++), documents.environment(), arguments);
    String token = ready.line().split(" ", -1)[2];
    members.put(token, ready.program());
    return token;
  }

  private Path log(int number) {
    return root.resolve("member-" + number + ".log");
  }

  /** The tokens of the members that were started and not killed. */
  List<String> tokens() {
    return List.copyOf(members.keySet());
  }

  Program member(String token) {
    Program program = members.get(token);
    if (program == null) {
      throw new IllegalArgumentException("no member " + token);
    }
    return program;
  }

  void kill(String token) {
    member(token).killAlive();
    members.remove(token);
  }

  /** Has a member stand still, or go on. */
  void signal(String token, String name) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, Long.toString(member(token).pid())).start().waitFor();
  }

  JsonNode status() throws IOException {
    return documents.status();
  }

  /** How often a member's line was refused, as the members have told. */
  int refused() throws IOException {
    int refused = 0;
    for (int i = 0; i < started; i++) {
      refused += (int) Files.readString(log(i)).lines().filter(ClusterFixture::isRefusal).count();
    }
    return refused;
  }

  private static boolean isRefusal(String line) {
    return line.contains(": '") && line.endsWith(", and is refused");
  }

  @Override
  public void close() {
    members.values().forEach(Program::kill);
  }
}
