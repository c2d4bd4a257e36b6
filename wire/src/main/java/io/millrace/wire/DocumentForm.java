package io.millrace.wire;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The JSON of documents, and of the parts of requests that write, delete or depend on one. */
final class DocumentForm {
  private DocumentForm() {}

  static void write(JsonGenerator json, Document document, DataForm form) {
    json.writeStartObject();
    writeKey(json, document.key());
    json.writeNumberProperty("version", document.version());
    JsonText.data(json, "body", "body64", document.body(), form);
    json.writeEndObject();
  }

  static Document read(JsonInput in) {
    Fields fields = new Fields();
    for (String name = in.object(); name != null; name = in.field()) {
      if (!fields.read(in, name)) {
        in.skip();
      }
    }
    return new Document(fields.documentKey(), fields.version, fields.body);
  }

  static void writeKey(JsonGenerator json, DocumentKey key) {
    json.writeStringProperty("collection", key.collection());
    json.writeStringProperty("key", key.key());
  }

  static void writePut(JsonGenerator json, Put put) {
    json.writeStartObject();
    writeKey(json, put.key());
    json.writeNumberProperty("version", put.expectedVersion());
    JsonText.data(json, "body", "body64", put.body(), DataForm.TEXT);
    if (put.template()) {
      json.writeBooleanProperty("template", true);
    }
    json.writeEndObject();
  }

  static Put readPut(JsonInput in) {
    Fields fields = new Fields();
    boolean template = false;
    for (String name = in.object(); name != null; name = in.field()) {
      if (name.equals("template")) {
        template = in.bool();
      } else if (!fields.read(in, name)) {
        throw in.unknown();
      }
    }
    return new Put(fields.documentKey(), fields.version, fields.body, template);
  }

  static void writeVersions(JsonGenerator json, String name, List<DocumentVersion> versions) {
    JsonText.listIfAny(json, name, versions, DocumentForm::writeVersion);
  }

  private static void writeVersion(JsonGenerator json, DocumentVersion version) {
    json.writeStartObject();
    writeKey(json, version.key());
    json.writeNumberProperty("version", version.version());
    json.writeEndObject();
  }

  static DocumentVersion readVersion(JsonInput in) {
    Fields fields = new Fields();
    for (String name = in.object(); name != null; name = in.field()) {
      if (name.startsWith("body") || !fields.read(in, name)) {
        throw in.unknown();
      }
    }
    return new DocumentVersion(fields.documentKey(), fields.version);
  }

  /** The fields of a document that have been read so far. */
  private static final class Fields {
    @Nullable String collection;
    @Nullable String key;
    long version = DocumentVersion.ANY;
    Bytes body = Bytes.EMPTY;
    boolean hasBody;

    /** Reads the field if it is one of a document; otherwise returns false. */
    boolean read(JsonInput in, String name) {
      switch (name) {
        case "collection" -> collection = in.text();
        case "key" -> key = in.text();
        case "version" -> version = in.integer(DocumentVersion.ANY, Long.MAX_VALUE);
        case "body" -> body(in, in.bytes());
        case "body64" -> body(in, in.base64());
        default -> {
          return false;
        }
      }
      return true;
    }

    private void body(JsonInput in, Bytes content) {
      if (hasBody) {
        throw in.wrong("conflicts with an earlier field: give body or body64, not both");
      }
      hasBody = true;
      body = content;
    }

    /**
     * The key; a missing part is empty. The store refuses an empty part, together with everything
     * else that is wrong.
     */
    DocumentKey documentKey() {
      return new DocumentKey(collection == null ? "" : collection, key == null ? "" : key);
    }
  }
}
