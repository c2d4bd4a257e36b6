package io.millrace.cluster.documents.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class LayoutTest {
  @Test
  void short_keys_are_readable_in_folder_names() {
    assertThat(Layout.FolderNames.of("leader")).isEqualTo("leader");
    assertThat(Layout.FolderNames.of("partition/7-1")).isEqualTo("partition%2f7-1");
    assertThat(Layout.FolderNames.of("..")).isEqualTo("%2e%2e");
  }

  @Test
  void folder_names_are_short_and_differ_on_file_systems_that_ignore_case() {
    List<String> keys =
        List.of(
            "Leader", "leader", "~", "\u00e9", "e\u0301", "\u6f22".repeat(133), "A".repeat(400));
    assertThat(keys.stream().map(Layout.FolderNames::of))
        .allMatch(name -> name.matches("[a-z0-9_%~-]{1,225}"))
        .doesNotHaveDuplicates();
  }

  @Test
  void a_folder_name_shows_whether_its_key_may_begin_with_a_prefix() {
    String longest = Layout.FolderNames.of("A/".repeat(200));
    assertThat(Layout.FolderNames.mayBegin(longest, "")).isTrue();
    assertThat(Layout.FolderNames.mayBegin(longest, "A/A")).isTrue();
    assertThat(Layout.FolderNames.mayBegin(longest, "A/".repeat(199))).isTrue();
    assertThat(Layout.FolderNames.mayBegin(longest, "A/B")).isFalse();
    assertThat(Layout.FolderNames.mayBegin("partition%2f7-1", "partition/")).isTrue();
    assertThat(Layout.FolderNames.mayBegin("partition%2f7-1", "partition/8")).isFalse();
    assertThat(Layout.FolderNames.mayBegin("partition", "partition/")).isFalse();
  }
}
