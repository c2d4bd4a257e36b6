package io.millrace.examples.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.member.ClusterWork;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.shared.FaultyDocuments;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two members, one of which listens. */
final class PortExampleTest {
  private static final LeaseTerms TERMS = LeaseTerms.of(Duration.ofSeconds(1));

  private final VersionedDocuments documents;
  private final FaultyDocuments mine;
  private final FaultyDocuments others;
  private final Path lines;
  private final int port;
  private final PortExample example;

  PortExampleTest(@TempDir Path folder) throws IOException {
    documents = FileDocuments.open(folder.resolve("documents"));
    mine = new FaultyDocuments(documents);
    others = new FaultyDocuments(documents);
    lines = folder.resolve("lines");
    port = Client.freePort();
    example = new PortExample(port, lines);
  }

  @AfterEach
  void close() {
    documents.close();
  }

  private Member start(FaultyDocuments shared) {
    return Member.start(shared, 1, TERMS, ClusterWork.of(example, shared));
  }

  @Test
  void when_the_listening_member_is_disconnected_another_takes_over() throws IOException {
    try (Member one = start(mine);
        Member two = start(others)) {
      Map<String, FaultyDocuments> ways = Map.of(one.token(), mine, two.token(), others);
      long first = Client.send(port, "a b");
      assertThat(Client.send(port, "")).isEqualTo(first);
      String listens = Files.readAllLines(lines).getLast().split(" ", -1)[1];
      ways.forEach((token, way) -> way.cut(token.equals(listens)));
      long second = first;
      int sent = 2;
      while (second == first) {
        second = Client.send(port, "line " + sent++);
      }
      assertThat(second).isGreaterThan(first);
      List<String> all = Files.readAllLines(lines);
      assertThat(all).startsWith("a b %s %d".formatted(listens, first));
      for (int i = 2; i < sent; i++) {
        String line = "line " + i + " ";
        assertThat(all).anyMatch(other -> other.startsWith(line));
      }
      assertThat(all.stream().map(PortExampleTest::fence).toList()).isSorted();
      assertThat(all.getLast()).endsWith(" " + second).doesNotContain(listens);
      ways.values().forEach(way -> way.cut(false));
    }
  }

  private static long fence(String line) {
    return Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
  }

  @Test
  void a_port_that_is_in_use_is_tried_again() throws IOException {
    Member member;
    try (ServerSocket other = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      CompletableFuture<Void> failed = new CompletableFuture<>();
      member =
          Member.start(
              mine,
              1,
              TERMS,
              ClusterWork.of(
                  guard -> {
                    try {
                      example.run(guard);
                    } finally {
                      failed.complete(null);
                    }
                  },
                  mine));
      failed.join();
      assertThat(other.isClosed()).isFalse();
    }
    try (member) {
      assertThat(Client.send(port, "at last")).isPositive();
    }
  }

  @Test
  void late_lines_are_refused_and_lines_of_another_form_ignored() throws IOException {
    Files.writeString(lines, "not ours\n");
    PortExample.PortFile file = new PortExample.PortFile(lines);
    file.append("x", "t", 5);
    file.append("y", "t", 5);
    assertThatThrownBy(() -> file.append("z", "u", 4))
        .isInstanceOf(LineFile.StaleFenceException.class)
        .hasMessage("a line with fence 4 comes after fence 5, and is refused");
    assertThat(lines).hasContent("not ours\nx t 5\ny t 5\n");
  }
}
