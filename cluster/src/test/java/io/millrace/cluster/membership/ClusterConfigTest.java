package io.millrace.cluster.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.lock.LeaseTerms;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ClusterConfigTest {
  private static final ClusterConfig FIRST =
      new ClusterConfig(LeaseTerms.of(Duration.ofSeconds(2)), Map.of("example", "files"));

  private final VersionedDocuments documents;

  ClusterConfigTest(@TempDir Path folder) {
    documents = FileDocuments.open(folder);
  }

  @AfterEach
  void close() {
    documents.close();
  }

  @Test
  void the_first_member_writes_the_settings_of_all_members() {
    assertThat(ClusterConfig.read(documents)).isEmpty();
    assertThat(FIRST.orExisting(documents)).isEqualTo(FIRST);
    assertThat(documents.get("config").map(VersionedDocument::json))
        .contains("{\"lease\":2000,\"margin\":400,\"plan\":{\"example\":\"files\"}}");
    assertThat(new ClusterConfig(LeaseTerms.DEFAULT, Map.of()).orExisting(documents))
        .isEqualTo(FIRST);
  }

  @Test
  void an_error_about_a_damaged_configuration_names_its_document() {
    documents.put("config", Version.NONE, "{\"lease\":1}");
    assertThatThrownBy(() -> ClusterConfig.read(documents))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("document config is damaged")
        .hasMessageContaining("100 ms to a day");
  }
}
