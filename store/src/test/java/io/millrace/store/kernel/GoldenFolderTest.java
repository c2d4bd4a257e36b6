package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Commit;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A data folder of every format version stays readable. */
class GoldenFolderTest {
  /** The newest format version, which the generator writes. */
  private static final int NEWEST = 2;

  private static final List<String> FILES =
      List.of("0000000000000001.segment", "0000000000000005.snapshot");
  private static final String DIGEST =
      "5d4582f092564867be3bc0f8bfb7d338f64f179c01a0d298e8c9daec578651a4";

  @TempDir private Path folder;

  private void copy(int version) throws IOException {
    for (String name : FILES) {
      String path = "/store-v" + version + "/" + name;
      try (InputStream file = GoldenFolderTest.class.getResourceAsStream(path)) {
        Files.copy(Objects.requireNonNull(file, name), folder.resolve(name));
      }
    }
  }

  private EmbeddedStore open() {
    FixedEnvironment environment = new FixedEnvironment(2);
    environment.advance(120_000);
    return GoldenFolder.open(folder, environment);
  }

  @ValueSource(ints = {1, NEWEST})
  @ParameterizedTest
  void a_folder_of_every_version_is_read(int version) throws IOException {
    copy(version);
    try (EmbeddedStore store = open()) {
      assertThat(store.digest().value()).isEqualTo(DIGEST);
      assertThat(store.groups().value())
          .containsExactly(
              new GroupSummary("one more", 1, 0, 0, 0),
              new GroupSummary("später", 0, 2, 2, 0),
              new GroupSummary("waiting", 8, 0, 2, 2));
      Document document = store.document(GoldenFolder.STATE).value().orElseThrow();
      assertThat(document.body().utf8()).startsWith("late first is ");
      assertThat(store.group(GroupQuery.all("waiting")).value())
          .filteredOn(Task::heldByClaim)
          .allMatch(task -> GoldenFolder.BERT.equals(task.owner()) && task.claims() == 1)
          .hasSize(2);
      assertThat(store.status().rememberedRequests()).isEqualTo(4);
    }
  }

  @ValueSource(ints = {1, NEWEST})
  @ParameterizedTest
  void a_store_on_a_folder_of_every_version_goes_on(int version) throws IOException {
    copy(version);
    String digest;
    try (EmbeddedStore store = open()) {
      Outcome.Done claim =
          store.claim(Claim.of(Owner.client(5), "waiting", Duration.ofHours(1))).done();
      Task task = claim.tasks().getFirst();
      assertThat(task.id())
          .isGreaterThan(store.document(GoldenFolder.STATE).value().orElseThrow().version());
      store
          .commit(Transaction.by(Owner.client(5)).delete(task.ref()).add("new", "task").build())
          .done();
      digest = store.digest().value();
    }
    try (EmbeddedStore store = open()) {
      assertThat(store.digest().value()).isEqualTo(digest);
    }
  }

  @ValueSource(ints = {1, NEWEST})
  @ParameterizedTest
  void every_commit_can_be_followed(int version) throws IOException, InterruptedException {
    copy(version);
    try (EmbeddedStore store = open()) {
      Position now = store.groups().position();
      List<Long> numbers = new ArrayList<>();
      try (Subscription subscription =
          store.subscribe(Interest.everything().after(new Position(now.history(), 0)))) {
        while (numbers.size() < now.number()) {
          Commit commit = Objects.requireNonNull(subscription.next(Duration.ofSeconds(10)));
          numbers.add(commit.position().number());
        }
      }
      assertThat(numbers).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    }
  }

  @ValueSource(ints = {1, NEWEST})
  @ParameterizedTest
  void a_request_of_every_version_is_remembered(int version) throws IOException {
    copy(version);
    try (EmbeddedStore store = open()) {
      Transaction other =
          Transaction.by(GoldenFolder.ANNA).requestId("late adds").add("x", Bytes.EMPTY).build();
      assertThat(store.commit(other)).isInstanceOf(Outcome.Refused.class);
    }
  }

  @Test
  void the_generator_still_writes_the_same(@TempDir Path fresh) throws IOException {
    assertThat(GoldenFolder.write(fresh)).isEqualTo(DIGEST);
    copy(NEWEST);
    for (String name : FILES) {
      assertThat(Files.mismatch(fresh.resolve(name), folder.resolve(name))).as(name).isEqualTo(-1);
    }
  }
}
