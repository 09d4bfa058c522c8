// Airloom's helper for ns-3: carries frames between nodes on the simulation time of Airloom, in lockstep with it.
//
// This file and those beside it are Airloom's own, under its licence (MIT), and hold nothing of ns-3. Whoever wants
// ns-3 compiles them against the ns-3 on his own machine, which is under the GPL version 2; Airloom does so at first use
// and keeps the result in the user's cache. It runs as a process of its own, which Airloom talks to over a socket.
//
//     medium NUMBER       the number of the open socket
//
// A fresh process for each run: ns-3 has state that outlives a simulation, and equal seeds must give equal bits.

#include "flows.h"
#include "lr_wpan.h"
#include "schedule.h"
#include "wifi.h"

#include <iostream>
#include <memory>

class Medium
{
  public:
    explicit Medium(const Setup& setup)
    {
        Schedule::Use();
        RngSeedManager::SetSeed(setup.Number("seed"));
        RngSeedManager::SetRun(setup.Number("run"));
        auto heard = [this](const FrameTag& frame, uint32_t receiver, uint32_t size, double strength) {
            Heard(frame, receiver, size, strength);
        };
        if (setup.Get("link") == "wifi")
        {
            m_link = std::make_unique<WifiLink>(setup, heard);
        }
        else
        {
            m_link = std::make_unique<LrWpanLink>(setup, heard);
        }
        if (auto path = setup.Get("flows", ""); !path.empty())
        {
            m_flows = std::make_unique<Flows>(path, setup.All("name"));
        }
    }

    std::string Facts() const
    {
        return m_link->Facts();
    }

    void Add(const std::string& name)
    {
        m_link->Add(name);
        if (m_flows)
        {
            m_flows->Add(name);
        }
    }

    // One period: everybody takes his place, frames are queued for their times, and the air does its work.
    std::string Run(Reader reader)
    {
        auto until = NanoSeconds(reader.Next<int64_t>());
        for (uint32_t node = 0; node < m_link->nodes.GetN(); node++)
        {
            m_link->Place(node, NextPlace(reader));
        }
        Disturb(reader);
        for (auto left = reader.Next<uint32_t>(); left > 0; left--)
        {
            Inject(reader);
        }
        reader.End();
        if (until < Simulator::Now())
        {
            throw Garbled("Airloom wants to go back in time");
        }
        m_arrivals = Writer();
        Simulator::Stop(until - Simulator::Now());
        Simulator::Run();
        Writer answer;
        answer.Put<int64_t>(Schedule::NextEvent());
        return answer.Body() + m_arrivals.Body();
    }

    std::string Counted() const
    {
        Writer body;
        for (const auto& count : m_link->counts)
        {
            body.Put(count);
        }
        return body.Body();
    }

    std::string Flowed() const
    {
        return m_flows ? m_flows->Stats() : "";
    }

    void End()
    {
        if (m_flows)
        {
            m_flows->Write();
        }
        Simulator::Destroy(); // closes the pcap files
    }

  private:
    static Vector NextPlace(Reader& reader)
    {
        auto x = reader.Next<double>();
        auto y = reader.Next<double>();
        auto z = reader.Next<double>();
        return Vector(x, y, z);
    }

    void Disturb(Reader& reader)
    {
        std::vector<Jammer> jammers;
        for (auto left = reader.Next<uint32_t>(); left > 0; left--)
        {
            auto place = NextPlace(reader);
            jammers.push_back({place, reader.Next<double>()});
        }
        std::set<std::pair<uint32_t, uint32_t>> blocked;
        for (auto left = reader.Next<uint32_t>(); left > 0; left--)
        {
            auto sender = reader.Next<uint32_t>();
            blocked.emplace(sender, reader.Next<uint32_t>());
        }
        m_link->Disturb(jammers, std::move(blocked));
    }

    void Inject(Reader& reader)
    {
        FrameTag tag;
        tag.number = reader.Next<int64_t>();
        auto time = NanoSeconds(reader.Next<int64_t>());
        tag.sender = reader.Next<int32_t>();
        auto to = reader.Next<int32_t>();
        auto size = reader.Next<uint32_t>();
        auto given = reader.Next<uint32_t>(); // bytes of payload that follow: none, or all
        auto payload = reinterpret_cast<const uint8_t*>(reader.Bytes(given));
        int64_t nodes = m_link->nodes.GetN();
        if (tag.sender >= nodes || to >= nodes || to == int32_t(tag.sender) || (given && given != size))
        {
            throw Garbled("Airloom has sent a frame from nobody, to nobody, to its sender or of another length");
        }
        auto packet = given ? Create<Packet>(payload, size) : Create<Packet>(size);
        packet->AddPacketTag(tag);
        auto send = [this, tag, to, packet] {
            if (m_flows)
            {
                m_flows->Sent(tag, to, packet->GetSize());
            }
            m_link->Send(tag.sender, to, packet);
        };
        Simulator::ScheduleWithContext(tag.sender, Max(time - Simulator::Now(), Time(0)), send);
    }

    void Heard(const FrameTag& frame, uint32_t receiver, uint32_t size, double strength)
    {
        m_arrivals.Put<int64_t>(frame.number);
        m_arrivals.Put<int64_t>(receiver);
        m_arrivals.Put<int64_t>(Simulator::Now().GetNanoSeconds());
        m_arrivals.Put<double>(strength);
        if (m_flows)
        {
            m_flows->Heard(frame, receiver, size);
        }
    }

    std::unique_ptr<Link> m_link;
    std::unique_ptr<Flows> m_flows;
    Writer m_arrivals;
};

static void
Serve(const Wire& wire)
{
    std::unique_ptr<Medium> medium;
    for (;;)
    {
        auto [kind, body] = wire.Hear();
        if ((kind == 'S') != !medium)
        {
            throw Garbled("the setup comes first, and once");
        }
        switch (kind)
        {
        case 'S':
            medium = std::make_unique<Medium>(Setup(body));
            wire.Tell('F', medium->Facts());
            break;
        case 'R':
            wire.Tell('A', medium->Run(Reader(body)));
            break;
        case 'N':
            medium->Add(body);
            wire.Tell('N', "");
            break;
        case 'C':
            wire.Tell('C', medium->Counted());
            break;
        case 'L':
            wire.Tell('L', medium->Flowed());
            break;
        case 'Q':
            medium->End();
            wire.Tell('Q', "");
            return;
        default:
            throw Garbled(std::string("unknown kind of message: ") + kind);
        }
    }
}

int
main(int count, char** arguments)
{
    if (count != 2)
    {
        std::cerr << "Airloom starts this program itself: medium NUMBER" << std::endl;
        return 2;
    }
    Wire wire(std::atoi(arguments[1]));
    try
    {
        Serve(wire);
    }
    catch (const std::exception& error)
    {
        wire.Tell('E', error.what());
        return 1;
    }
    return 0;
}
