package io.millrace.cluster.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Sequential changes at versions. */
public abstract class DocumentChangesContract extends DocumentsContractTopic {
  /** For subclasses. */
  protected DocumentChangesContract() {}

  @Test
  void a_missing_document_is_not_found() {
    assertThat(documents().get("leader")).isEmpty();
    make("leader/2", says("1"));
    assertThat(documents().get("leader")).isEmpty();
    assertThat(documents().get("leader/")).isEmpty();
    assertThat(documents().get("leader/22")).isEmpty();
  }

  @Test
  void a_document_is_created_only_if_it_does_not_exist() {
    Version made = make("leader", says("1"));
    holds("leader", made, says("1"));
    refused("leader", Version.NONE);
    holds("leader", made, says("1"));
  }

  @Test
  void a_document_is_written_only_at_its_current_version() {
    Version first = make("leader", says("1"));
    Version second = write("leader", first, says("2"));
    holds("leader", second, says("2"));
    refused("leader", first);
    refused("leader", Version.NONE);
    holds("leader", second, says("2"));
    Version third = write("leader", second, says("3"));
    refused("leader", first);
    refused("leader", second);
    holds("leader", third, says("3"));
  }

  @Test
  void writing_the_same_content_again_makes_a_new_version() {
    Version first = make("leader", says("1"));
    Version second = write("leader", first, says("1"));
    refused("leader", first);
    holds("leader", second, says("1"));
  }

  @Test
  void nothing_is_written_at_a_version_of_a_deleted_document() {
    Version made = make("leader", says("1"));
    assertThat(documents().delete("leader", made)).isTrue();
    refused("leader", made);
    assertThat(documents().get("leader")).isEmpty();
    assertThat(documents().delete("leader", made)).isFalse();
  }

  @Test
  void the_version_of_one_document_is_not_valid_for_another() {
    Version one = make("one", says("1"));
    assertThat(documents().delete("other", one)).isFalse();
    Version other = make("other", says("1"));
    for (int i = 0; i < 3; i++) {
      one = write("one", one, says("1"));
    }
    assertThat(documents().delete("other", other)).isTrue();
    holds("one", one, says("1"));
  }

  @Test
  void a_document_is_deleted_only_at_its_current_version() {
    Version first = make("leader", says("1"));
    Version second = write("leader", first, says("2"));
    assertThat(documents().delete("leader", first)).isFalse();
    holds("leader", second, says("2"));
    assertThat(documents().delete("leader", second)).isTrue();
    assertThat(documents().get("leader")).isEmpty();
    assertThat(keys("")).isEmpty();
  }

  @Test
  void a_document_that_is_deleted_and_created_again_has_none_of_its_earlier_versions() {
    List<Version> earlier = new ArrayList<>();
    for (int round = 0; round < 5; round++) {
      Version version = make("leader", says("1"));
      assertThat(earlier).doesNotContain(version);
      for (Version old : earlier) {
        refused("leader", old);
        assertThat(documents().delete("leader", old)).isFalse();
      }
      holds("leader", version, says("1"));
      earlier.add(version);
      for (int i = 0; i < round; i++) {
        version = write("leader", version, says("2"));
        assertThat(earlier).doesNotContain(version);
        earlier.add(version);
      }
      assertThat(documents().delete("leader", version)).isTrue();
    }
  }

  @Test
  void no_version_is_used_twice_and_each_is_valid_only_until_the_next() {
    List<Version> versions = new ArrayList<>();
    versions.add(make("leader", says("0")));
    for (int i = 1; i < 200; i++) {
      versions.add(write("leader", versions.getLast(), says("" + i)));
      holds("leader", versions.getLast(), says("" + i));
    }
    assertThat(versions).doesNotHaveDuplicates();
    for (Version version : versions.subList(0, versions.size() - 1)) {
      refused("leader", version);
    }
    holds("leader", versions.getLast(), says("199"));
    assertThat(keys("")).containsExactly("leader");
  }

  @Test
  void a_document_that_does_not_exist_cannot_be_deleted() {
    assertThatThrownBy(() -> documents().delete("leader", Version.NONE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("does not exist");
  }
}
