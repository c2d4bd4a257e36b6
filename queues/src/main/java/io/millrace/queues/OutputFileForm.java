package io.millrace.queues;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import tools.jackson.databind.node.ObjectNode;

/** Output files as documents, with the field names of GridFS. */
final class OutputFileForm {
  private OutputFileForm() {}

  static Bytes write(OutputFile file) {
    ObjectNode json = Json.object();
    json.put("filename", file.name());
    json.put("length", file.sizeBytes());
    json.put("chunkSize", OutputFile.CHUNK_BYTES);
    json.putObject("metadata").put("task_id", file.task().hex());
    json.put("chunks", file.chunkPrefix());
    return Json.write(json);
  }

  static OutputFile read(Document document) {
    ObjectNode json = Json.read(document.body());
    return new OutputFile(
        new ObjectId(document.key().key()),
        new ObjectId(json.required("metadata").required("task_id").asString()),
        json.required("filename").asString(),
        json.required("length").asLong(),
        json.required("chunks").asString());
  }
}
