package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The five lines that the README shows. */
class FirstStepsTest {
  @Test
  void a_task_is_added_claimed_and_finished(@TempDir Path folder) {
    Owner me = Owner.client(42);
    try (TaskStore store = TaskStore.open(StoreOptions.in(folder))) {
      store.commit(Transaction.by(me).add("map", "/path/to/file:0:1024").build()).done();
      Task task = store.claim(Claim.of(me, "map", Duration.ofMinutes(1))).done().tasks().getFirst();
      store.commit(Transaction.by(me).delete(task.ref()).add("reduce", task.data()).build()).done();

      assertThat(store.groups().value()).extracting(GroupSummary::name).containsExactly("reduce");
    }
  }

  @Test
  void the_readme_shows_just_these_lines() throws IOException {
    List<String> readme = Files.readAllLines(Path.of("../README.md"));
    int begin = readme.lastIndexOf("```java") + 1;
    List<String> shown =
        readme.subList(begin, begin + readme.subList(begin, readme.size()).indexOf("```"));
    assertThat(shown).hasSizeGreaterThan(5).last().isEqualTo("}");

    List<String> source =
        Files.readAllLines(Path.of("src/test/java/io/millrace/store/FirstStepsTest.java"));
    assertThat(source.stream().map(String::strip).toList())
        .containsSequence(shown.subList(0, shown.size() - 1).stream().map(String::strip).toList());
  }

  @Test
  void what_was_committed_is_there_after_a_restart(@TempDir Path folder) {
    Owner me = Owner.client(42);
    String digest;
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder))) {
      for (int i = 0; i < 100; i++) {
        store.commit(Transaction.by(me).add("map", "task " + i).requestId("r" + i).build()).done();
      }
      for (int i = 0; i < 50; i++) {
        Claim claim = Claim.of(me, "map", Duration.ofHours(1));
        Task task = store.claim(claim).done().tasks().getFirst();
        if (i % 2 == 0) {
          store.commit(Transaction.by(me).delete(task.ref()).build()).done();
        }
      }
      digest = store.digest().value();
    }
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder))) {
      assertThat(store.digest().value()).isEqualTo(digest);
      assertThat(store.group(GroupQuery.all("map")).value()).hasSize(75);
      assertThat(store.group(GroupQuery.waiting("map")).value()).hasSize(50);
    }
  }
}
