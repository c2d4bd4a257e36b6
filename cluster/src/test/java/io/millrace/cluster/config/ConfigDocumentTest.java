package io.millrace.cluster.config;

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

final class ConfigDocumentTest {
  private static final ClusterConfig FIRST =
      new ClusterConfig(LeaseTerms.of(Duration.ofSeconds(2)), Map.of("example", "files"));

  private final VersionedDocuments documents;
  private final ConfigDocument config;

  ConfigDocumentTest(@TempDir Path folder) {
    documents = FileDocuments.open(folder);
    config = new ConfigDocument(documents);
  }

  @AfterEach
  void close() {
    documents.close();
  }

  @Test
  void the_first_member_says_what_all_go_by() {
    assertThat(config.read()).isEmpty();
    assertThat(config.readOr(FIRST)).isEqualTo(FIRST);
    assertThat(documents.get("config").map(VersionedDocument::json))
        .contains("{\"lease\":2000,\"margin\":400,\"plan\":{\"example\":\"files\"}}");
    assertThat(config.readOr(new ClusterConfig(LeaseTerms.DEFAULT, Map.of()))).isEqualTo(FIRST);
  }

  @Test
  void a_configuration_that_is_damaged_is_named() {
    documents.put("config", Version.NONE, "{\"lease\":1}");
    assertThatThrownBy(config::read)
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("document config is damaged")
        .hasMessageContaining("100 ms to a day");
  }
}
