package io.millrace.http.transport;

import io.millrace.store.environment.DurationText;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS 1.2 and 1.3 on the side of the server. After {@link #handshake}, one thread may receive while
 * another one sends. A client that begins another handshake (renegotiation, TLS 1.2) is cut off.
 *
 * <p>Buffers are taken from a pool while they hold something, so an idle connection has none. They
 * are given back by the thread that used them, and never by {@link #close}, which may come while
 * another thread uses them.
 */
public final class TlsTransport implements Transport {
  private static final Logger LOG = LoggerFactory.getLogger(TlsTransport.class);
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  /** The type of the record that begins a handshake. */
  private static final byte HANDSHAKE = 22;

  private final PlainTransport plain;
  private final SocketChannel channel;
  private final SSLEngine engine;
  private boolean established;

  /** Bytes that have been received but not decrypted, from the position on; null if none. */
  private @Nullable ByteBuffer encrypted;

  /** Whether {@link #encrypted} may hold a complete record. */
  private boolean complete;

  /** Bytes that have been decrypted but did not fit into the target; null if none. */
  private @Nullable ByteBuffer decrypted;

  private boolean ended;

  /** Held while something is encrypted and written. */
  private final ReentrantLock writing = new ReentrantLock();

  /** Encrypted bytes that the client has not taken yet; null if none. Guarded by the lock. */
  private volatile @Nullable ByteBuffer unsent;

  /**
   * A connection before its handshake.
   *
   * @param engine of a server, not used yet
   * @param received the first bytes of the client
   */
  public TlsTransport(SocketChannel channel, SSLEngine engine, ByteBuffer received) {
    this.plain = new PlainTransport(channel);
    this.channel = channel;
    this.engine = engine;
    this.encrypted = Buffers.take().put(received).flip();
    this.complete = true;
  }

  /** Whether a client that begins with this byte speaks TLS. */
  public static boolean isHandshake(byte first) {
    return first == HANDSHAKE;
  }

  /**
   * Agrees with the client on keys, in blocking mode. Called once, before anything else.
   *
   * @throws IOException if that fails or takes longer than {@code timeout}
   */
  public void handshake(Duration timeout) throws IOException {
    long end = System.nanoTime() + timeout.toNanos();
    ByteBuffer early = Buffers.take();
    engine.beginHandshake();
    while (!established) {
      switch (engine.getHandshakeStatus()) {
        case NEED_TASK -> runTasks();
        case NEED_WRAP -> reply();
        case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
          long millis = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
          if (millis <= 0) {
            throw new SocketTimeoutException(
                "the handshake took longer than " + DurationText.show(timeout));
          }
          if (decrypt(early, (int) Math.min(millis, Integer.MAX_VALUE)) < 0) {
            throw new EOFException("the client disconnected during the handshake");
          }
        }
        case NOT_HANDSHAKING, FINISHED -> established = true;
      }
    }
    if (early.position() == 0) {
      Buffers.give(early);
    } else {
      // Only if the client has sent its first request together with the end of its handshake.
      decrypted = decrypted == null ? early.flip() : joined(early.flip(), decrypted);
    }
  }

  private static ByteBuffer joined(ByteBuffer first, ByteBuffer second) {
    return ByteBuffer.allocate(first.remaining() + second.remaining())
        .put(first)
        .put(second)
        .flip();
  }

  @Override
  public SocketChannel channel() {
    return channel;
  }

  @Override
  public boolean isSecure() {
    return true;
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    return decrypt(target, 0);
  }

  @Override
  public boolean hasReceived() {
    return decrypted != null || complete || ended;
  }

  @Override
  public int receive(ByteBuffer target, int timeoutMillis) throws IOException {
    return decrypt(target, timeoutMillis);
  }

  /**
   * Decrypts the records that have been received; if there are none, after one read of the channel.
   */
  private int decrypt(ByteBuffer target, int timeoutMillis) throws IOException {
    int begin = target.position();
    takeDecrypted(target);
    try {
      if (target.position() == begin && !ended && !(complete && unwrap(target, begin))) {
        if (fill(timeoutMillis)) {
          var _ = unwrap(target, begin);
        }
      }
    } catch (SSLException e) {
      tell(e);
      throw e;
    }
    ByteBuffer rest = encrypted;
    if (rest != null && !rest.hasRemaining()) {
      encrypted = null;
      Buffers.give(rest);
    }
    int count = target.position() - begin;
    return count == 0 && ended ? -1 : count;
  }

  private void takeDecrypted(ByteBuffer target) {
    ByteBuffer source = decrypted;
    if (source == null) {
      return;
    }
    int count = Math.min(source.remaining(), target.remaining());
    target.put(target.position(), source, source.position(), count);
    target.position(target.position() + count);
    source.position(source.position() + count);
    if (!source.hasRemaining()) {
      decrypted = null;
      Buffers.give(source);
    }
  }

  /** Reads from the channel once. Returns false if nothing has come. */
  private boolean fill(int timeoutMillis) throws IOException {
    ByteBuffer room = encrypted;
    if (room == null) {
      room = Buffers.take();
      encrypted = room;
    } else {
      room.compact();
    }
    int count = 0;
    try {
      if (!room.hasRemaining()) {
        throw new SSLException("a record is longer than TLS allows");
      }
      count = channel.isBlocking() ? plain.receive(room, timeoutMillis) : channel.read(room);
    } finally {
      room.flip();
    }
    // Without close_notify as well: the length of each message tells whether it is complete.
    ended = count < 0;
    return count > 0;
  }

  /** Decrypts complete records while they fit. Returns whether there was one. */
  private boolean unwrap(ByteBuffer target, int begin) throws IOException {
    ByteBuffer source = encrypted;
    boolean found = false;
    complete = false;
    while (source != null && source.hasRemaining() && !ended) {
      SSLEngineResult result = engine.unwrap(source, target);
      if (result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
        if (target.position() > begin) {
          complete = true;
          return true;
        }
        // Perhaps of a record that is not complete: only its length is known then.
        result = unwrapAside(source);
      }
      switch (result.getStatus()) {
        case BUFFER_UNDERFLOW -> {
          return found;
        }
        case BUFFER_OVERFLOW -> throw new SSLException("a record is longer than TLS allows");
        case CLOSED -> {
          ended = true;
          return true;
        }
        case OK -> {}
      }
      found = true;
      takeDecrypted(target);
      if (!proceed(result) || decrypted != null) {
        complete = source.hasRemaining();
        return true;
      }
    }
    return found;
  }

  /** Decrypts one record that does not fit into the target. */
  private SSLEngineResult unwrapAside(ByteBuffer source) throws SSLException {
    ByteBuffer own = Buffers.take();
    SSLEngineResult result = engine.unwrap(source, own);
    if (own.flip().hasRemaining()) {
      decrypted = own;
    } else {
      Buffers.give(own);
    }
    return result;
  }

  /** Does what a record requires. Returns false if the next one has to wait for that. */
  private boolean proceed(SSLEngineResult result) throws IOException {
    switch (result.getHandshakeStatus()) {
      case NEED_TASK -> {
        if (established) {
          throw new SSLException("the client began another handshake");
        }
        runTasks();
      }
      case NEED_WRAP -> {
        reply();
        return established && result.bytesConsumed() > 0;
      }
      case NEED_UNWRAP, NEED_UNWRAP_AGAIN, NOT_HANDSHAKING, FINISHED -> {}
    }
    return true;
  }

  private void runTasks() {
    for (Runnable task = engine.getDelegatedTask();
        task != null;
        task = engine.getDelegatedTask()) {
      task.run();
    }
  }

  /**
   * Sends what the handshake, an update of keys or the end of the connection requires. If another
   * thread is sending, that is sent with the next bytes.
   */
  private void reply() throws IOException {
    if (!writing.tryLock()) {
      return;
    }
    try {
      while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP && encrypt(NOTHING)) {
        // Each turn makes one record.
      }
    } finally {
      writing.unlock();
    }
  }

  /** Tells the client why the connection ends. */
  private void tell(SSLException failure) {
    try {
      reply();
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }

  @Override
  public void write(ByteBuffer source) throws IOException {
    send(source);
  }

  @Override
  public boolean isFlushed() {
    return unsent == null;
  }

  @Override
  public void send(ByteBuffer source) throws IOException {
    writing.lock();
    try {
      boolean more = flush();
      while (more && source.hasRemaining()) {
        more = encrypt(source);
      }
    } finally {
      writing.unlock();
    }
  }

  /**
   * Encrypts one record and writes it.
   *
   * @return whether another one may follow
   */
  private boolean encrypt(ByteBuffer source) throws IOException {
    if (!flush()) {
      return false;
    }
    ByteBuffer record = Buffers.take();
    SSLEngineResult result = engine.wrap(source, record);
    record.flip();
    if (!record.hasRemaining()) {
      Buffers.give(record);
      if (source.hasRemaining()) {
        throw new ClosedChannelException();
      }
      return false;
    }
    unsent = record;
    return flush() && result.getStatus() == SSLEngineResult.Status.OK;
  }

  /** Writes what is left. Returns false if the client does not take all of it now. */
  private boolean flush() throws IOException {
    ByteBuffer rest = unsent;
    if (rest == null) {
      return true;
    }
    do {
      channel.write(rest);
    } while (rest.hasRemaining() && channel.isBlocking());
    if (rest.hasRemaining()) {
      return false;
    }
    unsent = null;
    Buffers.give(rest);
    return true;
  }

  @Override
  public void shutdownOutput() throws IOException {
    writing.lock();
    try {
      endOutput();
    } finally {
      writing.unlock();
    }
    channel.shutdownOutput();
  }

  /** Sends close_notify. */
  private void endOutput() throws IOException {
    engine.closeOutbound();
    boolean more = true;
    while (more && !engine.isOutboundDone()) {
      more = encrypt(NOTHING);
    }
  }

  @Override
  public void close() throws IOException {
    // In blocking mode a write could wait for the client.
    if (!channel.isBlocking() && channel.isOpen() && writing.tryLock()) {
      try {
        endOutput();
      } catch (IOException e) {
        LOG.trace("a connection could not be ended", e);
      } finally {
        writing.unlock();
      }
    }
    channel.close();
  }

  /** A few buffers, each with room for one record. Thread-safe. */
  private static final class Buffers {
    /** The longest record with its header, and what the platform asks for above that. */
    private static final int BYTES = 17 << 10;

    private static final ArrayBlockingQueue<ByteBuffer> FREE = new ArrayBlockingQueue<>(64);

    private Buffers() {}

    static ByteBuffer take() {
      ByteBuffer free = FREE.poll();
      return free == null ? ByteBuffer.allocate(BYTES) : free.clear();
    }

    /** Gives a buffer back, to which nobody refers any more. */
    static void give(ByteBuffer used) {
      if (used.capacity() == BYTES) {
        var _ = FREE.offer(used);
      }
    }
  }
}
