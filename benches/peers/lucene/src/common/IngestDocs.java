import java.nio.charset.StandardCharsets;
import org.apache.lucene.util.BytesRef;

/** Documents of eight fields with an id, generated from their numbers as in benches/src/ingest.rs. */
final class IngestDocs {
  static final String[] NUMBERS = {"ts", "size", "code", "price", "flag"};
  static final int ID_LEN = 36;
  static final int PATH_LEN = 24;

  private static final int HOSTS = 500;
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final BytesRef[] HOST_NAMES = new BytesRef[HOSTS];
  private static final BytesRef[] STATUS_NAMES = {
    new BytesRef("200"), new BytesRef("304"), new BytesRef("404"), new BytesRef("301"), new BytesRef("206"),
    new BytesRef("500"), new BytesRef("302"), new BytesRef("403"), new BytesRef("503"), new BytesRef("418")
  };

  static {
    for (int i = 0; i < HOSTS; i++) {
      HOST_NAMES[i] =
          new BytesRef("host-" + (char) ('0' + i / 100) + (char) ('0' + i / 10 % 10) + (char) ('0' + i % 10) + ".example.com");
    }
  }

  final int count;
  /** A column for each name in NUMBERS. */
  final long[][] numbers;
  final BytesRef[] hosts;
  final BytesRef[] statuses;
  final byte[] paths;
  final byte[] ids;

  /** The documents of consecutive numbers. */
  IngestDocs(int first, int count) {
    this(consecutive(first, count));
  }

  /** The documents of these numbers. */
  IngestDocs(int[] docs) {
    count = docs.length;
    numbers = new long[NUMBERS.length][count];
    hosts = new BytesRef[count];
    statuses = new BytesRef[count];
    paths = new byte[count * PATH_LEN];
    ids = new byte[count * ID_LEN];
    for (int i = 0; i < count; i++) {
      set(i, docs[i]);
    }
  }

  private static int[] consecutive(int first, int count) {
    int[] docs = new int[count];
    for (int i = 0; i < count; i++) {
      docs[i] = first + i;
    }
    return docs;
  }

  private void set(int at, int doc) {
    // The outputs of a SplitMix64 of its own for each document.
    long seed = 8L * doc * Ids.GAMMA;
    numbers[0][at] = 1_700_000_000_000L + 2L * doc + (random(seed, 1) & 1);
    long size = random(seed, 2);
    numbers[1][at] = size >>> 40 >>> (size & 15);
    numbers[2][at] = random(seed, 3) >>> 57;
    numbers[3][at] = Double.doubleToLongBits((double) (random(seed, 4) >>> 44) / 100);
    numbers[4][at] = (random(seed, 5) & 7) == 0 ? 1 : 0;
    long host = random(seed, 6);
    hosts[at] = HOST_NAMES[(int) ((host >>> 32) * HOSTS >>> 32) * (int) ((host & 0xffffffffL) * HOSTS >>> 32) / HOSTS];
    statuses[at] = STATUS_NAMES[Long.numberOfTrailingZeros(random(seed, 7) | 1 << 9)];
    path(at * PATH_LEN, random(seed, 8));
    BytesRef id = Ids.id("uuid", doc);
    System.arraycopy(id.bytes, id.offset, ids, at * ID_LEN, ID_LEN);
  }

  private static long random(long seed, int output) {
    return Ids.mix(seed + output * Ids.GAMMA);
  }

  /** "/xx/xxxxxx/xxxxxxxx.html" */
  private void path(int at, long random) {
    int shift = 64;
    for (int len : new int[] {2, 6, 8}) {
      paths[at++] = '/';
      for (int i = 0; i < len; i++) {
        shift -= 4;
        paths[at++] = HEX[(int) (random >>> shift) & 15];
      }
    }
    for (char c : ".html".toCharArray()) {
      paths[at++] = (byte) c;
    }
  }

  /** A hash of all values, which must equal that of benches/src/ingest.rs. */
  long checksum() {
    long hash = 0;
    for (int i = 0; i < count; i++) {
      for (long[] column : numbers) {
        hash = add(hash, column[i]);
      }
      hash = add(hash, hosts[i].bytes, hosts[i].offset, hosts[i].length);
      hash = add(hash, statuses[i].bytes, statuses[i].offset, statuses[i].length);
      hash = add(hash, paths, i * PATH_LEN, PATH_LEN);
      hash = add(hash, ids, i * ID_LEN, ID_LEN);
    }
    return hash;
  }

  private static long add(long hash, byte[] bytes, int from, int len) {
    for (int i = from; i < from + len; i++) {
      hash = add(hash, bytes[i]);
    }
    return hash;
  }

  private static long add(long hash, long value) {
    return (hash ^ value) * 0x100000001b3L;
  }
}
