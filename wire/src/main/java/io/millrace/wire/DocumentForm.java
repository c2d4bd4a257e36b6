package io.millrace.wire;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.Transaction.Put;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** A document, and how requests write, delete and depend on one. */
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
      if (!fields.take(in, name)) {
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
        template = in.truth();
      } else if (!fields.take(in, name)) {
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
      if (name.startsWith("body") || !fields.take(in, name)) {
        throw in.unknown();
      }
    }
    return new DocumentVersion(fields.documentKey(), fields.version);
  }

  /** What has been read of an object that names a document. */
  private static final class Fields {
    @Nullable String collection;
    @Nullable String key;
    long version = DocumentVersion.ANY;
    Bytes body = Bytes.EMPTY;
    boolean hasBody;

    /** Takes a field that it knows; false for another. */
    boolean take(JsonInput in, String name) {
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
        throw in.wrong("comes beside another body: give body or body64");
      }
      hasBody = true;
      body = content;
    }

    /** A name that is missing is empty: the store refuses it, with all else that is wrong. */
    DocumentKey documentKey() {
      return new DocumentKey(collection == null ? "" : collection, key == null ? "" : key);
    }
  }
}
