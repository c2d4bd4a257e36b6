package io.millrace.cluster.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The valid keys and contents, which are returned unchanged. */
public abstract class DocumentContentsContract extends DocumentsContractTopic {
  /** For subclasses. */
  protected DocumentContentsContract() {}

  @Test
  void every_key_has_its_own_document() {
    for (String key : STRANGE_KEYS) {
      holds(key, make(key, says("first")), says("first"));
    }
    for (int i = 0; i < STRANGE_KEYS.size(); i++) {
      String key = STRANGE_KEYS.get(i);
      VersionedDocument found = documents().get(key).orElseThrow();
      assertThat(found.json()).isEqualTo(says("first"));
      write(key, found.version(), says("" + i));
    }
    for (int i = 0; i < STRANGE_KEYS.size(); i++) {
      String key = STRANGE_KEYS.get(i);
      VersionedDocument found = documents().get(key).orElseThrow();
      assertThat(found.json()).as(key).isEqualTo(says("" + i));
      assertThat(documents().delete(key, found.version())).isTrue();
      assertThat(documents().get(key)).as(key).isEmpty();
    }
    assertThat(keys("")).isEmpty();
  }

  @Test
  void long_keys_that_differ_in_the_last_letter_only_are_distinct() {
    List<String> longest =
        List.of(
            "a".repeat(VersionedDocuments.KEY_BYTES),
            "a".repeat(VersionedDocuments.KEY_BYTES - 1) + "b",
            "a".repeat(VersionedDocuments.KEY_BYTES - 1),
            "\u6f22".repeat(VersionedDocuments.KEY_BYTES / 3) + "a",
            "\u6f22".repeat(VersionedDocuments.KEY_BYTES / 3) + "b",
            "/".repeat(VersionedDocuments.KEY_BYTES),
            ".".repeat(VersionedDocuments.KEY_BYTES),
            "A/%".repeat(VersionedDocuments.KEY_BYTES / 3));
    for (String key : longest) {
      make(key, says("" + longest.indexOf(key)));
    }
    for (String key : longest) {
      assertThat(documents().get(key).orElseThrow().json())
          .isEqualTo(says("" + longest.indexOf(key)));
    }
    assertThat(keys("")).isEqualTo(longest.stream().sorted().toList());
    assertThat(keys(longest.get(0))).containsExactly(longest.get(0));
    assertThat(keys(longest.get(2)))
        .containsExactly(longest.get(2), longest.get(0), longest.get(1));
    assertThat(keys("\u6f22".repeat(100))).containsExactly(longest.get(3), longest.get(4));
  }

  @Test
  void invalid_keys_are_refused_by_every_method() {
    Version version = make("leader", says("1"));
    for (String key :
        List.of(
            "",
            "a".repeat(VersionedDocuments.KEY_BYTES + 1),
            "\u6f22".repeat(VersionedDocuments.KEY_BYTES / 3 + 1),
            "a\nb",
            "\0",
            "\u007f",
            "\u0085",
            "a\ud83d",
            "\ude00")) {
      bad("key", documents -> documents.get(key));
      bad("key", documents -> documents.put(key, Version.NONE, says("1")));
      bad("key", documents -> documents.put(key, version, says("1")));
      bad("key", documents -> documents.delete(key, version));
      if (!key.isEmpty()) {
        bad("key", documents -> documents.list(key));
      }
    }
    assertThat(keys("")).containsExactly("leader");
  }

  @Test
  void contents_are_returned_unchanged() {
    List<String> contents =
        List.of(
            "{}",
            "{ }",
            "{\n  \"a\" : [ 1,2 , 3 ],\r\n\t\"b\": null\n}",
            "{\"b\":1,\"a\":2}",
            "{\"n\":[0,-0,1.0,1.00,1e5,1E+5,1e400,0.1000000000000000055511151231257827,"
                + "123456789012345678901234567890,9007199254740993]}",
            "{\"expire\":1515527529288}",
            "{\"s\":\"\\u00e9\u00e9\\/\\\"\\\\\\n\u2028\ud83d\ude00\\ud83d\\ude00\\u0000\"}",
            "{\"\":\"\",\" \":{},\"a.b\":{\"c\":1},\"a\":{\"b.c\":[]}}",
            "{\"key\":1,\"document\":{\"document\":{}},\"_id\":\"x\",\"_source\":{},\"write\":2}",
            "{\"mixed\":[1,\"1\",{\"a\":1},[[]],null,true]}",
            "{\"key\":{\"key\":\"an object where others had a number\"}}",
            "{\"template\":\"{{leader}}\"}",
            "{\"deep\":" + "[".repeat(199) + "]".repeat(199) + "}");
    Version version = Version.NONE;
    for (String json : contents) {
      version = write("leader", version, json);
      holds("leader", version, json);
      fixture().settle();
      assertThat(documents().list("leader"))
          .containsExactly(new VersionedDocument("leader", version, json));
    }
  }

  @Test
  void a_content_may_be_as_large_as_the_limit() {
    String largest = content(VersionedDocuments.JSON_BYTES);
    Version version = make("leader", largest);
    holds("leader", version, largest);
    bad(
        "1048577",
        documents -> documents.put("leader", version, content(VersionedDocuments.JSON_BYTES + 1)));
    String wide = says("\u6f22".repeat((VersionedDocuments.JSON_BYTES - 20) / 3));
    Version next = write("leader", version, wide);
    holds("leader", next, wide);
    fixture().settle();
    assertThat(documents().list("lead"))
        .containsExactly(new VersionedDocument("leader", next, wide));
  }

  private static String content(int bytes) {
    String json = says("x".repeat(bytes - says("").length()));
    assertThat(json.getBytes(StandardCharsets.UTF_8)).hasSize(bytes);
    return json;
  }

  @Test
  void a_content_that_is_not_one_json_object_is_refused() {
    for (String json :
        List.of(
            "",
            "1",
            "null",
            "[]",
            "\"a\"",
            "{",
            "}",
            "{}{}",
            "{},{}",
            "{}, \"key\":{}",
            " {}",
            "{}\n",
            "\ufeff{}",
            "{a:1}",
            "{'a':1}",
            "{\"a\":01}",
            "{\"a\":NaN}",
            "{\"a\":1,}",
            "{\"a\":1 /* one */}",
            "{\"a\":1,\"a\":1}",
            "{\"a\":{\"b\":1,\"b\":2}}",
            "{\"a\":\"\ud83d\"}",
            "{\"a\":\"\n\"}",
            "{\"a\":" + "[".repeat(200) + "]".repeat(200) + "}")) {
      bad("leader", documents -> documents.put("leader", Version.NONE, json));
    }
    assertThat(documents().get("leader")).isEmpty();
  }

  private void bad(String message, Consumer<VersionedDocuments> request) {
    assertThatThrownBy(() -> request.accept(documents()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
