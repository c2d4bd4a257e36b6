package io.millrace.examples.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.lambda.ClusterSecret;
import io.millrace.cluster.lambda.LambdaCodec;
import io.millrace.cluster.lambda.TrustedClasses;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.remote.RemoteWork;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The examples of remote work, with members in one process whose lambdas are serialized
 * nevertheless.
 */
final class RemoteExamplesTest {
  private static final LeaseTerms TERMS = LeaseTerms.of(Duration.ofSeconds(1));
  private static final long BETWEEN_LOOKS_NANOS = 5_000_000;

  private final VersionedDocuments documents;
  private final Path input;
  private final Path output;
  private final List<Member> members = new ArrayList<>();

  RemoteExamplesTest(@TempDir Path folder) throws IOException {
    documents = FileDocuments.open(folder.resolve("documents"));
    input = Files.createDirectory(folder.resolve("input"));
    output = folder.resolve("lines");
  }

  @AfterEach
  void close() {
    members.forEach(Member::close);
    documents.close();
  }

  private Member start(RemoteWork work) {
    LambdaCodec codec =
        new LambdaCodec(
            ClusterSecret.of("the secret of this test".getBytes(StandardCharsets.UTF_8)),
            TrustedClasses.packages("io.millrace.examples.cluster"));
    Member member = Member.start(documents, 2, TERMS, work.clusterWork(codec));
    members.add(member);
    return member;
  }

  private void stop(Member member) {
    members.remove(member);
    member.close();
  }

  @Test
  void every_file_is_hashed_once_if_no_member_dies_and_not_again_by_the_next_leader()
      throws IOException {
    for (int i = 0; i < 10; i++) {
      Files.writeString(input.resolve("file " + i), "abc");
    }
    Member first = start(new ListingExample(input, output, Duration.ofMillis(10)));
    start(new ListingExample(input, output, Duration.ofMillis(10)));
    awaitLines(10);
    // If a member stopped between a line and its commit, the file would be hashed again.
    await("all files are committed", () -> committed() == 10);
    stop(first);
    Files.writeString(input.resolve("later"), "abc");
    awaitLines(11);
    List<ResultFile.Line> results =
        lines().stream().map(line -> ResultFile.Line.read(line).orElseThrow()).toList();
    assertThat(results).extracting(ResultFile.Line::name).doesNotHaveDuplicates().contains("later");
    assertThat(results)
        .extracting(ResultFile.Line::hash)
        .containsOnly("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }

  @Test
  void each_line_of_growing_files_is_copied_once_and_in_order_while_members_join_and_leave()
      throws IOException {
    append("a", 1);
    append("b", 1);
    Member first = start(new FeedExample(input, output));
    awaitLines(2);
    Member second = start(new FeedExample(input, output));
    await("the second follows some", () -> holdsSomething(second));
    append("a", 2);
    append("later", 1);
    awaitLines(4);
    stop(first);
    append("b", 2);
    append("a", 3);
    awaitLines(6);
    List<FeedFile.Line> results =
        lines().stream().map(line -> FeedFile.Line.read(line).orElseThrow()).toList();
    for (String name : List.of("a", "b", "later")) {
      assertThat(results.stream().filter(line -> line.file().equals(name)).map(FeedFile.Line::line))
          .containsExactlyElementsOf(Files.readAllLines(input.resolve(name)));
    }
  }

  private void append(String name, int number) throws IOException {
    Files.writeString(
        input.resolve(name),
        "line " + number + " of " + name + "\n",
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  private List<String> lines() throws IOException {
    return Files.exists(output) ? Files.readAllLines(output) : List.of();
  }

  private boolean holdsSomething(Member member) {
    return documents.list("partition/").stream()
        .anyMatch(partition -> partition.json().contains(member.token()));
  }

  private long committed() {
    return documents.list("backlog/").stream()
        .filter(item -> item.json().contains("\"done\""))
        .count();
  }

  private void awaitLines(int count) throws IOException {
    await(count + " lines", () -> lines().size() >= count);
    assertThat(lines()).hasSize(count);
  }

  private interface Condition {
    boolean holds() throws IOException;
  }

  private static void await(String what, Condition condition) throws IOException {
    long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (!condition.holds()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("not within a minute: " + what);
      }
      LockSupport.parkNanos(BETWEEN_LOOKS_NANOS);
    }
  }
}
