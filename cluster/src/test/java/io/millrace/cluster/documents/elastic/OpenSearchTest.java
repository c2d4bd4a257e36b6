package io.millrace.cluster.documents.elastic;

import java.net.URI;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract of versioned documents, for a real OpenSearch. */
final class OpenSearchTest extends SearchEngineContract {
  private static @Nullable SearchEngine engine;

  @BeforeAll
  static void start() {
    engine = SearchEngine.opensearch();
  }

  @AfterAll
  static void stop() {
    if (engine != null) {
      engine.close();
    }
  }

  @Override
  URI engine() {
    return Objects.requireNonNull(engine).address();
  }
}
