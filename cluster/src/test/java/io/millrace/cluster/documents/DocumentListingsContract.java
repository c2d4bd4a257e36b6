package io.millrace.cluster.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The content and order of listings. */
public abstract class DocumentListingsContract extends DocumentsContractTopic {
  private static final int MANY = 3_000;

  /** For subclasses. */
  protected DocumentListingsContract() {}

  @Test
  void an_empty_listing_is_empty() {
    assertThat(keys("")).isEmpty();
    assertThat(keys("a")).isEmpty();
    make("a", says("1"));
    assertThat(keys("b")).isEmpty();
    assertThat(keys("a/")).isEmpty();
    assertThat(keys("aa")).isEmpty();
  }

  @Test
  void a_listing_has_exactly_the_keys_that_begin_with_the_prefix() {
    for (String key :
        List.of("partition/2", "partition/10", "partition", "partitions/1", "Partition/1", "q")) {
      make(key, says(key));
    }
    assertThat(keys("partition/")).containsExactly("partition/10", "partition/2");
    assertThat(keys("partition"))
        .containsExactly("partition", "partition/10", "partition/2", "partitions/1");
    assertThat(keys("part")).hasSize(4);
    assertThat(keys("partition/2")).containsExactly("partition/2");
    assertThat(keys("partition/1")).containsExactly("partition/10");
    assertThat(keys("P")).containsExactly("Partition/1");
    assertThat(keys("artition")).isEmpty();
    assertThat(keys("")).hasSize(6);
  }

  @Test
  void a_key_used_as_a_prefix_has_no_special_characters() {
    for (String key : STRANGE_KEYS) {
      make(key, says("1"));
    }
    for (String prefix : STRANGE_KEYS) {
      assertThat(keys(prefix))
          .as("prefix %s", prefix)
          .isEqualTo(STRANGE_KEYS.stream().filter(key -> key.startsWith(prefix)).sorted().toList());
    }
    assertThat(keys("")).isEqualTo(STRANGE_KEYS.stream().sorted().toList());
  }

  @Test
  void keys_are_listed_in_order_of_utf_16_code_units() {
    // The last two differ in order between UTF-16 code units and code points.
    List<String> ordered = List.of("A", "a", "\u00e9", "\u6f22", "\ud83d\ude00", "\ufffd");
    for (String key : ordered.reversed()) {
      make(key, says("1"));
    }
    assertThat(keys("")).isEqualTo(ordered);
  }

  @Test
  void a_listed_version_is_the_newest_and_can_be_written_at() {
    Version first = make("a", says("1"));
    Version second = write("a", first, says("2"));
    Version other = make("b", says("3"));
    make("c", says("4"));
    assertThat(documents().delete("b", other)).isTrue();
    fixture().settle();
    List<VersionedDocument> listed = documents().list("");
    assertThat(listed).extracting(VersionedDocument::key).containsExactly("a", "c");
    assertThat(listed.getFirst()).isEqualTo(new VersionedDocument("a", second, says("2")));
    for (VersionedDocument document : listed) {
      write(document.key(), document.version(), says("5"));
      refused(document.key(), document.version());
    }
  }

  @Test
  void thousands_of_documents_are_listed_completely() throws Exception {
    List<String> expected =
        IntStream.range(0, MANY).mapToObj(i -> "partition/7-" + i).sorted().toList();
    make("partition", says("no slash"));
    make("partitions/1", says("another prefix"));
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      List<Future<?>> made = new ArrayList<>();
      for (String key : expected) {
        made.add(threads.submit(() -> make(key, says(key))));
      }
      for (Future<?> one : made) {
        one.get();
      }
    }
    assertThat(keys("partition/")).isEqualTo(expected);
    assertThat(keys("")).hasSize(MANY + 2);
    for (VersionedDocument document : documents().list("partition/7-11")) {
      assertThat(document.json()).isEqualTo(says(document.key()));
    }
  }

  @Test
  void unchanged_documents_are_in_every_listing_while_others_change() throws Exception {
    for (String key : List.of("a", "m", "z")) {
      make(key, says("steady"));
    }
    fixture().settle();
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      Future<?> changing =
          threads.submit(() -> {
            Version often = make("n", says("0"));
            for (int i = 0; i < 150; i++) {
              often = write("n", often, says("" + i));
              Version brief = make("l" + i, says("" + i));
              assertThat(documents().delete("l" + i, brief)).isTrue();
            }
          });
      while (!changing.isDone()) {
        assertThat(documents().list(""))
            .filteredOn(document -> document.json().equals(says("steady")))
            .extracting(VersionedDocument::key)
            .containsExactly("a", "m", "z");
      }
      changing.get();
    }
    assertThat(keys("")).containsExactly("a", "m", "n", "z");
  }
}
