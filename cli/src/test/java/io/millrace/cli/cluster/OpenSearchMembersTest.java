package io.millrace.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.documents.elastic.SearchEngine;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Members on a real OpenSearch, in an index with a prefix of its own. */
final class OpenSearchMembersTest {
  @Test
  @EnabledIfSystemProperty(named = "millrace.memberkills", matches = "all")
  void every_file_is_hashed_and_late_lines_are_refused(@TempDir Path root)
      throws IOException, InterruptedException {
    try (SearchEngine engine = SearchEngine.opensearch()) {
      MemberKills.run(root, EngineFixture.empty(engine, "team-a."));
      assertThat(engine.send("GET", "/_cat/indices?h=index", null))
          .contains("\"team-a.documents\"")
          .doesNotContain("millrace-documents");
    }
  }
}
