package io.millrace.server.jobs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.commons.fileupload2.core.AbstractFileUpload;
import org.apache.commons.fileupload2.core.DiskFileItem;
import org.apache.commons.fileupload2.core.DiskFileItemFactory;
import org.apache.commons.fileupload2.core.FileItemInputIterator;
import org.apache.commons.fileupload2.core.RequestContext;

/** The library's reader of forms, which gives each part as a stream and keeps none. */
final class FormReader extends AbstractFileUpload<FormSource, DiskFileItem, DiskFileItemFactory> {
  private static final int MOST_HEADER_BYTES = 8 << 10;

  FormReader() {
    setMaxPartHeaderSize(MOST_HEADER_BYTES);
    setHeaderCharset(StandardCharsets.UTF_8);
  }

  @Override
  public FileItemInputIterator getItemIterator(FormSource source) throws IOException {
    return getItemIterator((RequestContext) source);
  }

  @Override
  public Map<String, List<DiskFileItem>> parseParameterMap(FormSource source) {
    throw new UnsupportedOperationException("parts are not kept");
  }

  @Override
  public List<DiskFileItem> parseRequest(FormSource source) {
    throw new UnsupportedOperationException("parts are not kept");
  }
}
