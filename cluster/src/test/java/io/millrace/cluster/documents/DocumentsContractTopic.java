package io.millrace.cluster.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * The base of the suites of all topics: empty documents for each test, and short methods for them.
 */
@Timeout(120)
public abstract class DocumentsContractTopic {
  /** Keys that an implementation might misinterpret. */
  protected static final List<String> STRANGE_KEYS =
      List.of(
          ".",
          "..",
          "...",
          "a/../b",
          "a/./b",
          "../../a",
          "/",
          "//",
          "/a",
          "a/",
          "a//b",
          "a",
          "A",
          "_",
          "_a",
          "_search",
          "-",
          "~",
          "~a",
          " ",
          " a",
          "a ",
          "a b",
          "a+b",
          "a%20b",
          "a%2Fb",
          "a%2fb",
          "a/b",
          "%",
          "%%",
          "%zz",
          "a?b=c",
          "a#b",
          "a&b",
          "a:b",
          "a;b",
          "a,b",
          "a*",
          "*",
          "a\\b",
          "\\",
          "\"",
          "'",
          "<a>",
          "a|b",
          "{{a}}",
          "$HOME",
          "con",
          "nul.txt",
          "a.",
          "a.b",
          "\u00e9",
          "e\u0301",
          "\u00c9",
          "\u6f22",
          "\ud83d\ude00",
          "\ufffd",
          "\ufeff",
          "null",
          "0",
          "1",
          "01");

  private DocumentsFixture fixture;
  private VersionedDocuments documents;

  /** For subclasses. */
  protected DocumentsContractTopic() {
    fixture = UnopenedFixture.FIXTURE;
    documents = UnopenedFixture.DOCUMENTS;
  }

  /** An empty storage. */
  protected abstract DocumentsFixture newFixture();

  @BeforeEach
  void begin() {
    fixture = newFixture();
    documents = fixture.open();
  }

  @AfterEach
  void end() {
    fixture.close();
  }

  DocumentsFixture fixture() {
    return fixture;
  }

  VersionedDocuments documents() {
    return documents;
  }

  /** A content with the text {@code what}. */
  static String says(String what) {
    return "{\"says\":\"" + what + "\"}";
  }

  /** Creates a document that must not exist. */
  Version make(String key, String json) {
    Optional<Version> made = documents.put(key, Version.NONE, json);
    assertThat(made).as("version of %s", key).isPresent();
    assertThat(made.get()).isNotEqualTo(Version.NONE);
    return made.get();
  }

  /** Writes a document at its present version. */
  Version write(String key, Version expected, String json) {
    Optional<Version> written = documents.put(key, expected, json);
    assertThat(written).as("version of %s", key).isPresent();
    assertThat(written.get()).isNotEqualTo(Version.NONE).isNotEqualTo(expected);
    return written.get();
  }

  void refused(String key, Version expected) {
    assertThat(documents.put(key, expected, says("refused"))).isEmpty();
  }

  void holds(String key, Version version, String json) {
    assertThat(documents.get(key)).contains(new VersionedDocument(key, version, json));
  }

  List<String> keys(String prefix) {
    fixture.settle();
    return documents.list(prefix).stream().map(VersionedDocument::key).toList();
  }
}
